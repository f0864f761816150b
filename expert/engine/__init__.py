"""Program + facts -> Trace: values, evaluation, inference, decisions, and the two engines."""
