// A page says the result of an action once: the word that names it leaves the address, so that neither a reload nor a bookmark says it again. Without
// scripts, the address keeps the word.
(() => {
  const address = new URL(location.href);
  const words = ['done', 'reviewed'].filter((name) => address.searchParams.has(name));
  if (words.length === 0) return;
  for (const name of words) address.searchParams.delete(name);
  history.replaceState(history.state, '', address);
})();
