import { type Readable, Transform } from 'node:stream';
import { HttpProblem } from '../errors/http-problem.ts';

/** The required speed of a large body, which occupies one of a few slots while it arrives. */
export interface Pace {
  /** The minimum number of bytes in each period. */
  readonly bytes: number;
  readonly periodMs: number;
  /** The time limit for the whole body. */
  readonly wholeMs: number;
}

const usualPace: Pace = { bytes: 80 * 1024, periodMs: 5_000, wholeMs: 60_000 };

/** Passes a body on as it arrives. Fails with an HttpProblem (408) as soon as the body is too slow. */
export function requirePace(body: Readable, pace = usualPace): Readable {
  const { bytes, periodMs, wholeMs } = pace;
  let [arrived, periods] = [0, 0];
  const passed = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      arrived += chunk.length;
      done(null, chunk);
    },
  });
  const check = () => {
    periods += 1;
    if (arrived < bytes * periods || periodMs * periods >= wholeMs) passed.destroy(tooSlow(pace));
  };
  // Bytes that arrived while the process was busy are counted before the check.
  const timer = setInterval(() => setImmediate(check), periodMs).unref();
  // If the request is answered before its body is read, nothing else handles this error.
  passed.on('error', () => undefined);
  passed.once('close', () => {
    clearInterval(timer);
    body.unpipe(passed);
  });
  body.once('error', (error) => passed.destroy(error));
  body.once('close', () => body.readableEnded || passed.destroy());
  return body.pipe(passed);
}

function tooSlow({ bytes, periodMs, wholeMs }: Pace): HttpProblem {
  const rate = Math.round(bytes / 1024 / (periodMs / 1000));
  return new HttpProblem(
    408,
    `the body arrives too slowly: send at least ${rate} KiB a second, and all of it within ${wholeMs / 1000} seconds`,
    { headers: { connection: 'close' } },
  );
}
