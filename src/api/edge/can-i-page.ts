/** The path of the page about `can-i`. Every 403 links to it, so it must never change. */
export const canIPagePath = '/api/docs/can-i';
