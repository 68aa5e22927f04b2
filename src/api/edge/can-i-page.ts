/** Where the page about `can-i` is served. Every 403 names it, so it never changes. */
export const canIPagePath = '/api/docs/can-i';
