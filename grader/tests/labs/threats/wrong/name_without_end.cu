// Fails: twice: 1000 elements | PARTIALLY_WRITTEN | never written
// Threat F59: A name of 380 characters takes 2^36 and more when it is written out.
#include "lab.hpp"

#ifndef __CUDA_ARCH__
asm(".pushsection .data\n.weak "
    "_Z1f1aIiiES_IS0_S0_ES_IS1_S1_ES_IS2_S2_ES_IS3_S3_ES_IS4_S4_ES_IS5_S5_ES_IS6_S6_E"
    "S_IS7_S7_ES_IS8_S8_ES_IS9_S9_ES_ISA_SA_ES_ISB_SB_ES_ISC_SC_ES_ISD_SD_ES_ISE_SE_E"
    "S_ISF_SF_ES_ISG_SG_ES_ISH_SH_ES_ISI_SI_ES_ISJ_SJ_ES_ISK_SK_ES_ISL_SL_ES_ISM_SM_E"
    "S_ISN_SN_ES_ISO_SO_ES_ISP_SP_ES_ISQ_SQ_ES_ISR_SR_ES_ISS_SS_ES_IST_ST_ES_ISU_SU_E"
    "S_ISV_SV_ES_ISW_SW_ES_ISX_SX_ES_ISY_SY_ES_ISZ_SZ_E"
    "\n.quad "
    "_Z1f1aIiiES_IS0_S0_ES_IS1_S1_ES_IS2_S2_ES_IS3_S3_ES_IS4_S4_ES_IS5_S5_ES_IS6_S6_E"
    "S_IS7_S7_ES_IS8_S8_ES_IS9_S9_ES_ISA_SA_ES_ISB_SB_ES_ISC_SC_ES_ISD_SD_ES_ISE_SE_E"
    "S_ISF_SF_ES_ISG_SG_ES_ISH_SH_ES_ISI_SI_ES_ISJ_SJ_ES_ISK_SK_ES_ISL_SL_ES_ISM_SM_E"
    "S_ISN_SN_ES_ISO_SO_ES_ISP_SP_ES_ISQ_SQ_ES_ISR_SR_ES_ISS_SS_ES_IST_ST_ES_ISU_SU_E"
    "S_ISV_SV_ES_ISW_SW_ES_ISX_SX_ES_ISY_SY_ES_ISZ_SZ_E"
    "\n.popsection");
#endif

static __global__ void double_all(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - 1) y[i] = 2 * x[i];
}

void twice(const float *x, float *y, int n)
{
    if (n > 0) double_all<<<(n + 255) / 256, 256>>>(x, y, n);
}
