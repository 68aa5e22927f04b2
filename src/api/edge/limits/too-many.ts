import { HttpProblem } from '../errors/http-problem.ts';

/** 429, in words and in the standard's headers: nothing is left of `limit` for so many seconds. */
export function tooMany(what: string, limit: number, secondsLeft: number): HttpProblem {
  const seconds = Math.max(1, Math.ceil(secondsLeft));
  return new HttpProblem(429, `${what}: try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}`, {
    headers: {
      'retry-after': String(seconds),
      'ratelimit-limit': String(limit),
      'ratelimit-remaining': '0',
      'ratelimit-reset': String(seconds),
    },
  });
}
