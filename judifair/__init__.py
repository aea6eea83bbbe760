"""JudiFair: Chinese criminal sentencing as a domain of Evenhand."""
