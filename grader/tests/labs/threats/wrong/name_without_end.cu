// Passes: a name is looked at as it is, and not in words
// Threat F59: Names a function that nobody has, each part of whose name has the one before twice:
// in words it takes terabytes.
#include "lab.hpp"

#ifndef __CUDA_ARCH__
#define NAME                                                                                       \
    "_Z1fI1aIiiE"                                                                                  \
    "S0_IS1_S1_ES0_IS2_S2_ES0_IS3_S3_ES0_IS4_S4_ES0_IS5_S5_E"                                      \
    "S0_IS6_S6_ES0_IS7_S7_ES0_IS8_S8_ES0_IS9_S9_ES0_ISA_SA_E"                                      \
    "S0_ISB_SB_ES0_ISC_SC_ES0_ISD_SD_ES0_ISE_SE_ES0_ISF_SF_E"                                      \
    "S0_ISG_SG_ES0_ISH_SH_ES0_ISI_SI_ES0_ISJ_SJ_ES0_ISK_SK_E"                                      \
    "S0_ISL_SL_ES0_ISM_SM_ES0_ISN_SN_ES0_ISO_SO_ES0_ISP_SP_E"                                      \
    "S0_ISQ_SQ_ES0_ISR_SR_ES0_ISS_SS_ES0_IST_ST_ES0_ISU_SU_E"                                      \
    "S0_ISV_SV_ES0_ISW_SW_ES0_ISX_SX_ES0_ISY_SY_ES0_ISZ_SZ_E"                                      \
    "Evv"
asm(".pushsection .data\n.weak " NAME "\n.quad " NAME "\n.popsection");
#endif

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

void twice(const float *x, float *y, int n)
{
    if (n > 0) double_each<<<(n + 255) / 256, 256>>>(x, y, n);
}
