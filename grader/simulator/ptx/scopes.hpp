// Holds the names of a function's body, scope by scope: registers, labels and .branchtargets.
#pragma once

#include "ptx_lexer.hpp"

#include <charconv>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace simulator::ptx {

struct register_range {
    int first, count;
};

// The braces of a body open and close scopes; a scope sees the names of those around it.
class scopes {
public:
    scopes() { all_.push_back({}); }

    static constexpr int of_function = 0; // the outermost scope
    int current() const { return current_; }
    void open()
    {
        all_.push_back({});
        all_.back().parent = current_;
        current_ = static_cast<int>(all_.size()) - 1;
    }
    bool close() // false if only the function's scope is open
    {
        if (current_ == of_function) return false;
        current_ = all_[current_].parent;
        return true;
    }

    // Declares one register, or the registers of a vector: `foo` of `.reg .v2 .u32 foo`.
    void declare(std::string_view name, const register_range &r)
    {
        (r.count == 1 ? here().plain : here().vectors)[name] = r;
    }
    // Declares name0, name1, ...: `.reg .b32 %r<9>`.
    void declare_range(std::string_view name, const register_range &r) { here().ranges[name] = r; }
    void place_label(std::string_view name, std::size_t statement)
    {
        here().labels[name] = static_cast<int>(statement);
    }
    std::vector<std::string_view> &add_table(std::string_view name) { return here().tables[name]; }

    // Returns the register's id, or -1.
    int find_register(std::string_view name, int from) const
    {
        auto digits = name.size();
        while (digits > 0 && is_digit(name[digits - 1])) --digits;
        int index = -1;
        if (digits < name.size())
            std::from_chars(name.data() + digits, name.data() + name.size(), index);
        for (int s = from; s >= 0; s = all_[s].parent) {
            const scope &c = all_[s];
            if (auto p = c.plain.find(name); p != c.plain.end()) return p->second.first;
            if (index < 0) continue;
            auto r = c.ranges.find(name.substr(0, digits));
            if (r != c.ranges.end() && index < r->second.count) return r->second.first + index;
        }
        return find_element(name, from);
    }

    // The others return null or -1 if there is no such name.
    const register_range *find_vector(std::string_view name, int from) const
    {
        return find(&scope::vectors, name, from);
    }
    int find_label(std::string_view name, int from) const
    {
        const int *label = find(&scope::labels, name, from);
        return label ? *label : -1;
    }
    const std::vector<std::string_view> *find_table(std::string_view name, int from) const
    {
        return find(&scope::tables, name, from);
    }

private:
    template <class value> using names_of = std::unordered_map<std::string_view, value>;
    struct scope {
        int parent = -1;
        names_of<register_range> plain, ranges, vectors;
        names_of<int> labels;
        names_of<std::vector<std::string_view>> tables;
    };
    scope &here() { return all_[current_]; }

    template <class value>
    const value *find(names_of<value> scope::*names, std::string_view name, int from) const
    {
        for (int s = from; s >= 0; s = all_[s].parent)
            if (auto n = (all_[s].*names).find(name); n != (all_[s].*names).end())
                return &n->second;
        return nullptr;
    }

    // Finds `foo.x` of a vector register.
    int find_element(std::string_view name, int from) const
    {
        if (name.size() < 3 || name[name.size() - 2] != '.') return -1;
        const register_range *v = find_vector(name.substr(0, name.size() - 2), from);
        if (v == nullptr) return -1;
        for (const std::string_view letters : {"xyzw", "rgba"})
            if (auto k = letters.find(name.back()); k < static_cast<std::size_t>(v->count))
                return v->first + static_cast<int>(k);
        return -1;
    }

    std::vector<scope> all_;
    int current_ = of_function;
};

} // namespace simulator::ptx
