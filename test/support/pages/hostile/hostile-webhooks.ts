import type { TestApi } from '../../api/in-process-api.ts';
import { required } from '../answers.ts';
import type { People } from '../people.ts';
import { addDeliveries, unresolved } from '../webhooks.ts';
import { hostileText, longWord, savedName } from './texts.ts';

/** A webhook whose texts attack the pages that show it. */
export interface HostileWebhook {
  readonly id: string;
  /** A delivery whose endpoint answered with markup. */
  readonly delivery: string;
}

/** Adds a webhook with a hostile name and a long address, and a delivery that a hostile endpoint answered. */
export async function addHostileWebhook(api: TestApi, { owner }: People, teamId: string): Promise<HostileWebhook> {
  const body = {
    name: savedName(),
    url: `${unresolved}/${longWord(400)}?"><script>`,
    events: ['*'],
    team_id: teamId,
  };
  const { id } = required(await owner.post('/admin/webhooks', body), 201);
  const answer = { status: 500, ms: 14_999, text: hostileText.slice(0, 1024) };
  const problem = `the endpoint answered 500; ${hostileText.slice(0, 200)}`;
  const [delivery = ''] = await addDeliveries(api, id, [
    { type: 'run.finished', status: 'failed', attempts: 10, answer, problem },
  ]);
  return { id, delivery };
}
