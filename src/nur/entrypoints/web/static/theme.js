// Runs before the first paint, so that a chosen theme does not flash. Not a module: modules run later.
try {
  const chosen = localStorage.getItem("nur.theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // Storage is blocked: keep the system's theme.
}
