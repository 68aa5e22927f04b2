import type { TestApi } from '../../api/in-process-api.ts';
import { required } from '../answers.ts';
import { failedTry, leaveMessage } from '../channels.ts';
import type { People } from '../people.ts';
import { hostileText, longWord, savedName } from './texts.ts';

/** Adds a notification channel with a hostile name, many long addresses, and a hostile problem. Returns its id. */
export async function addHostileChannel(api: TestApi, { owner }: People, teamId: string): Promise<string> {
  const recipients = Array.from({ length: 20 }, (_, index) => `${longWord(60)}${index}@example.com`);
  const body = {
    name: savedName(),
    kind: 'email',
    config: { recipients },
    team_id: teamId,
    subscriptions: [{ team_id: teamId, events: ['*'] }],
  };
  const { id } = required(await owner.post('/admin/notification-channels', body), 201);
  const to = { channelId: id, medium: 'email', address: recipients[0] ?? '' } as const;
  await leaveMessage(api, to, failedTry(hostileText.slice(0, 300)));
  return id;
}
