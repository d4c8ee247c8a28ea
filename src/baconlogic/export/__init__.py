"""A decision carried away: as Python, C, JavaScript, SQL, ONNX, LaTeX or a workbook."""
