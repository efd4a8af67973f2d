"""Kernels of `tails`: its functions, compiled as they are."""

from core.arithmetic.kernels.logarithms import log, log1p
from core.arithmetic.kernels.powers import exp
from core.compiler.compile import compiled, compiled_with
from core.criteria import tails

deviance, stirling_error = compiled_with(tails.deviance, log, log1p), compiled_with(tails.stirling_error, log)
gamma_series, gamma_fraction = compiled(tails._gamma_series), compiled(tails._gamma_fraction)
log_gamma_tail = compiled_with(
    tails.log_gamma_tail, deviance, stirling_error, gamma_series, gamma_fraction, exp, log, log1p
)
log_chi_squared_tail = compiled_with(tails.log_chi_squared_tail, log_gamma_tail)
beta_fraction = compiled(tails._beta_fraction)
log_beta_part = compiled_with(tails._log_beta_part, deviance, stirling_error, beta_fraction, log)
log_beta_tail = compiled_with(tails.log_beta_tail, log_beta_part, exp, log1p)
log_f_tail = compiled_with(tails.log_f_tail, log_beta_tail, log1p)
