import { afterAll, beforeAll, expect, it } from 'vitest';
import { openRandom } from '#test/faults/harness/random.ts';
import { Administrators, type Round } from './administrators.ts';

/** 1,000 rounds by `npm run test:proofs`; a few otherwise. */
const isAll = process.env['PROOFS'] === 'all';
const roundCount = isAll ? 1_000 : 15;

let scene: Administrators;
beforeAll(async () => {
  scene = await Administrators.open();
});
afterAll(() => scene?.close());

it(
  'leaves one administrator whoever demotes, disables and deletes whom at the same moment',
  async () => {
    const random = openRandom(roundCount, 'administrators');
    const rounds: Round[] = [];
    while (rounds.length < roundCount) rounds.push(await scene.round(random));
    const answers = rounds.flatMap((round) => round.answers);
    expect(rounds.filter(({ left }) => left < 1)).toEqual([]);
    expect(answers.filter(({ status }) => ![200, 204, 401, 403, 404, 409].includes(status))).toEqual([]);
    const last = answers.filter(({ status, text }) => status === 409 && text.includes('last administrator'));
    expect(last.length).toBeGreaterThan(0);
    if (isAll) console.log(tell(rounds, last.length));
  },
  isAll ? 3_600_000 : 60_000,
);

function tell(rounds: readonly Round[], refusals: number): string {
  const answers = rounds.flatMap((round) => round.answers);
  const done = answers.filter(({ status }) => status < 300).length;
  const narrow = rounds.filter(({ before, left }) => before > 1 && left === 1).length;
  return (
    `${rounds.length} rounds, ${answers.length} attempts: ${done} done, ${refusals} refused for the last administrator; ` +
    `in ${narrow} rounds one of several was left, in none nobody`
  );
}
