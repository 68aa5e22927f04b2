import { createHash, timingSafeEqual } from 'node:crypto';

/** Whether a header `Authorization` has this bearer token. The duration reveals neither the length nor the content of the token. */
export function hasBearerToken(authorization: string | undefined, token: string): boolean {
  const sent = /^Bearer +([\x21-\x7e]+)$/i.exec(authorization ?? '')?.[1];
  return sent !== undefined && timingSafeEqual(digest(sent), digest(token));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
