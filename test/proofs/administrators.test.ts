import { afterAll, beforeAll, expect, it } from 'vitest';
import { openRandom } from '#test/faults/harness/random.ts';
import { Administrators, type Round } from './administrators.ts';

/** `npm run test:proofs` runs 1,000 rounds, and `npm test` a few. */
const isAll = process.env['PROOFS'] === 'all';
const roundCount = isAll ? 1_000 : 15;

let administrators: Administrators;
beforeAll(async () => {
  administrators = await Administrators.open();
});
afterAll(() => administrators?.close());

it(
  'administrators who demote, disable and delete each other at the same time leave at least one administrator',
  async () => {
    const random = openRandom(roundCount, 'administrators');
    const rounds: Round[] = [];
    while (rounds.length < roundCount) rounds.push(await administrators.round(random));
    const answers = rounds.flatMap((round) => round.answers);
    expect(rounds.filter(({ left }) => left < 1)).toEqual([]);
    expect(answers.filter(({ status }) => ![200, 204, 401, 403, 404, 409].includes(status))).toEqual([]);
    const last = answers.filter(({ status, text }) => status === 409 && text.includes('last administrator'));
    expect(last.length).toBeGreaterThan(0);
    if (isAll) console.log(summarize(rounds, last.length));
  },
  isAll ? 3_600_000 : 120_000,
);

function summarize(rounds: readonly Round[], refusals: number): string {
  const answers = rounds.flatMap((round) => round.answers);
  const done = answers.filter(({ status }) => status < 300).length;
  const narrow = rounds.filter(({ before, left }) => before > 1 && left === 1).length;
  return (
    `${rounds.length} rounds, ${answers.length} requests: ${done} succeeded, ${refusals} were refused to keep the last administrator; ` +
    `${narrow} rounds left one of several administrators, and none left no administrator`
  );
}
