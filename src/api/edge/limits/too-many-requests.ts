import { HttpProblem } from '../errors/http-problem.ts';

/** The 429 answer with the standard rate-limit headers: nothing is left of `limit` for this number of seconds. */
export function tooManyRequests(problem: string, limit: number, secondsLeft: number): HttpProblem {
  const seconds = Math.max(1, Math.ceil(secondsLeft));
  return new HttpProblem(429, `${problem}: try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}`, {
    headers: {
      'retry-after': String(seconds),
      'ratelimit-limit': String(limit),
      'ratelimit-remaining': '0',
      'ratelimit-reset': String(seconds),
    },
  });
}
