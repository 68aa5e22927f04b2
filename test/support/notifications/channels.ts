import type { ApiUser } from '../api/in-process-api.ts';

export interface MadeChannel {
  readonly id: string;
  readonly secret: string | null;
  readonly path: string;
}

/** Makes a notification channel through the API. */
export async function makeChannel(by: ApiUser, body: object): Promise<MadeChannel> {
  const { id, secret } = await by.make('/admin/notification-channels', { name: 'On call', ...body });
  return { id, secret: typeof secret === 'string' ? secret : null, path: `/admin/notification-channels/${id}` };
}
