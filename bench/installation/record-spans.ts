import { createWriteStream } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import { listenToSpans } from '#domain/shared/tasks/spans.ts';

/** A process of the service that loads this file first writes its spans into the file that BENCH_SPANS names, one on each line. */

const path = process.env['BENCH_SPANS'];
if (path !== undefined && isMainThread) {
  const file = createWriteStream(path, { flags: 'a' });
  listenToSpans((span) => file.write(`${JSON.stringify(span)}\n`));
}
