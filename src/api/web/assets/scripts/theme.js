// Sets the colour scheme before the page is drawn. If the reader has chosen none, that of the browser applies.
(() => {
  const themes = ['system', 'light', 'dark'];

  function read() {
    try {
      const theme = localStorage.getItem('theme');
      return theme !== null && themes.includes(theme) ? theme : 'system';
    } catch {
      return 'system'; // The browser keeps nothing.
    }
  }

  function apply() {
    const theme = read();
    if (theme === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    for (const name of document.querySelectorAll('[data-theme-name]')) name.textContent = theme;
  }

  apply();
  document.addEventListener('DOMContentLoaded', () => {
    for (const button of document.querySelectorAll('[data-do="switch-theme"]')) {
      button.removeAttribute('hidden');
      button.addEventListener('click', () => {
        localStorage.setItem('theme', themes[(themes.indexOf(read()) + 1) % themes.length] ?? 'system');
        apply();
      });
    }
    apply();
  });
})();
