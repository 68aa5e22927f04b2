import { once } from 'node:events';
import { describeError } from '../errors.ts';
import { SampleClient } from './client.ts';
import { SampleOrder, type SampleProgress } from './process.ts';
import { runSample } from './sample.ts';

/** The process that signs in and makes the sample. It ends with the process that started it. */

const send = (progress: SampleProgress) => process.send?.(progress);

process.on('disconnect', () => process.exit());
// Ctrl-C means the process that started this one.
process.on('SIGINT', () => undefined);
const [order] = await once(process, 'message');
const { url, email, password, sample } = SampleOrder.parse(order);
try {
  const client = await SampleClient.signIn(url, email, password);
  const path = sample ? await runSample(client, (line) => send({ line })) : '/api/v1/auth/whoami';
  send({ token: client.token, path });
} catch (error) {
  send({ failure: describeError(error) });
}
process.disconnect();
