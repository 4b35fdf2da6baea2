// Loaded before the page is drawn, so that a page set to dark does not flash.
const chosen = localStorage.getItem('theme')
if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen
