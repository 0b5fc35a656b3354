// Keeps the dependencies of the grids of a launch tree, and chooses the next one to run.
#include "launch_tree.hpp"

#include "races.hpp"

#include <algorithm>
#include <utility>

namespace simulator::core {

launch_node::launch_node(launch_node *by) : parent(by) {}
launch_node::~launch_node() = default;

// If others occupy launch slots, each value of max_pending gets its own random sequence.
launch_tree::launch_tree(std::uint32_t max_pending, bool shuffled, std::uint64_t seed,
                         bool others_launch)
    : max_pending_(max_pending),
      shuffled_(shuffled),
      others_launch_(others_launch),
      random_(static_cast<std::uint32_t>(seed) ^ (others_launch ? max_pending * 0x9e3779b9u : 0))
{
    nodes_.emplace_back();
}

launch_tree::stream launch_tree::create_stream(const launch_node &of)
{
    const stream made = last_handle_ += 2;
    handles_[&of].streams[made];
    return made;
}

bool launch_tree::destroy_stream(const launch_node &of, stream s)
{
    return s % 2 == 0 && handles_[&of].streams.erase(s) != 0; // work already in it continues
}

// The runtime provides two event slots per launch slot.
launch_tree::stream launch_tree::create_event(const launch_node &of)
{
    if (events_ >= 2 * std::size_t{max_pending_}) return 0;
    ++events_;
    const stream made = last_handle_ += 2;
    handles_[&of].events[made];
    return made;
}

bool launch_tree::destroy_event(const launch_node &of, stream event)
{
    const bool was = handles_[&of].events.erase(event) != 0;
    events_ -= was;
    return was;
}

launch_nodes *launch_tree::stream_of(const launch_node &of, stream s)
{
    auto &streams = handles_[&of].streams;
    if (s % 2 == 1) return &streams[s];
    const auto it = streams.find(s);
    return it == streams.end() ? nullptr : &it->second;
}

bool launch_tree::record(const launch_node &of, stream event, stream s)
{
    const launch_nodes *from = stream_of(of, s);
    const auto to = handles_[&of].events.find(event);
    if (!from || to == handles_[&of].events.end()) return false;
    to->second = *from;
    return true;
}

bool launch_tree::wait(const launch_node &of, stream s, stream event)
{
    launch_nodes *to = stream_of(of, s);
    const auto from = handles_[&of].events.find(event);
    if (!to || from == handles_[&of].events.end()) return false;
    for (launch_node *n : from->second)
        if (std::find(to->begin(), to->end(), n) == to->end()) to->push_back(n);
    return true;
}

bool launch_tree::reserve()
{
    if (pending_ >= max_pending_) return false;
    // Launch slots belong to the whole device: other kernels may hold the last one for a moment,
    // so that this launch fails and the next succeeds.
    if (others_launch_ && random_() % 3 == 0) return false;
    ++pending_;
    return true;
}

void launch_tree::give_back() { --pending_; }

launch_node &launch_tree::add(launch_node &by)
{
    launch_node &n = nodes_.emplace_back(&by);
    n.depth = by.depth + 1;
    n.dependencies = 1;
    by.waiting.push_back(&n);
    return n;
}

void launch_tree::follow(launch_node &n, launch_node &earlier)
{
    n.after.push_back(&earlier);
    ++n.dependencies;
    earlier.successors.push_back(&n);
}

launch_node *launch_tree::launch(launch_node &by, stream s)
{
    launch_nodes *in = stream_of(by, s);
    if (!in) return nullptr;
    launch_node &n = add(by);
    ++by.open;
    for (launch_node *earlier : *in) follow(n, *earlier);
    *in = {&n};
    return &n;
}

launch_node &launch_tree::launch_fire_and_forget(launch_node &by)
{
    ++by.open;
    return add(by);
}

launch_node &launch_tree::launch_at_tail(launch_node &by)
{
    launch_node &n = nodes_.emplace_back(&by);
    n.tail = true;
    n.depth = by.depth; // a tail launch replaces its parent
    by.tail_launches.push_back(&n);
    return n;
}

void launch_tree::release(launch_node &n)
{
    if (--n.dependencies == 0) ready_.push_back(&n);
}

void launch_tree::ended(launch_node &n)
{
    n.has_run = true;
    if (auto it = handles_.find(&n); it != handles_.end()) {
        events_ -= it->second.events.size();
        handles_.erase(it);
    }
    n.ran_below += 1;
    for (launch_node *child : std::exchange(n.waiting, {})) release(*child);
    finish(n);
}

// Checks if `n` is complete and propagates that to its parent and successors.
void launch_tree::finish(launch_node &first)
{
    for (launch_node *n = &first; n && n->has_run && n->open == 0; n = n->parent) {
        if (n->tails_started < n->tail_launches.size())
            return ready_.push_back(n->tail_launches[n->tails_started++]);
        for (launch_node *s : std::exchange(n->successors, {})) release(*s);
        if (!n->parent) return;
        n->parent->ran_below += n->ran_below;
        if (!n->tail) --n->parent->open;
    }
}

launch_node *launch_tree::next()
{
    if (ready_.empty()) return nullptr;
    const auto which = shuffled_ ? random_() % ready_.size() : 0;
    launch_node *const n = ready_[which];
    ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(which));
    --pending_;
    n->ran_before = ran_++;
    const launch_node &by = *n->parent;
    n->follows_family = n->tail && n->ran_before - by.ran_before == by.ran_below;
    return n;
}

} // namespace simulator::core
