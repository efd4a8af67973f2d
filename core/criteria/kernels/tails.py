"""The functions of `tails`, compiled as they are."""

from core.compiler.compile import compiled, compiled_with
from core.criteria import tails

deviance, stirling_error = compiled(tails.deviance), compiled(tails.stirling_error)
gamma_series, gamma_fraction = compiled(tails._gamma_series), compiled(tails._gamma_fraction)
log_gamma_tail = compiled_with(tails.log_gamma_tail, deviance, stirling_error, gamma_series, gamma_fraction)
log_chi_squared_tail = compiled_with(tails.log_chi_squared_tail, log_gamma_tail)
beta_fraction = compiled(tails._beta_fraction)
log_beta_part = compiled_with(tails._log_beta_part, deviance, stirling_error, beta_fraction)
log_beta_tail = compiled_with(tails.log_beta_tail, log_beta_part)
log_f_tail = compiled_with(tails.log_f_tail, log_beta_tail)
