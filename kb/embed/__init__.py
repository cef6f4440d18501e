"""Text → vectors. Nothing in here reports to anybody: onnxruntime would, unless it is told not to before it is imported."""

import os

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
