// Follows a log and its run by one stream. After a lost connection, it resumes after the last complete line that arrived. A hidden page has
// no stream, because a browser opens only a few connections to one service.

/**
 * @typedef {{ log: (part: import('./run-log-lines.js').Part) => void, changed: () => void, ended: (status: string) => void,
 *   paused: (isPaused: boolean) => void, position: () => number }} Follower
 */

const retryMs = 5_000;

/** @param {string} url @param {string} revision @param {Follower} follower */
export function followLog(url, revision, follower) {
  /** @type {EventSource | null} */
  let source = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let isOver = false;
  let seenRevision = revision;

  function connect() {
    clearTimeout(timer);
    source?.close();
    if (isOver || document.hidden) return;
    source = new EventSource(`${url}?after=${follower.position()}&revision=${seenRevision}`);
    source.addEventListener('open', () => follower.paused(false));
    source.addEventListener('log', ({ data }) => follower.log(JSON.parse(data)));
    source.addEventListener('changed', ({ data }) => {
      seenRevision = data;
      follower.changed();
    });
    source.addEventListener('end', stop);
    source.addEventListener('error', retry);
  }

  function retry() {
    source?.close();
    follower.paused(true);
    clearTimeout(timer);
    timer = setTimeout(connect, retryMs);
  }

  /** @param {MessageEvent<string>} event */
  function stop({ data }) {
    isOver = true;
    source?.close();
    follower.ended(data);
  }

  document.addEventListener('visibilitychange', connect);
  connect();
}
