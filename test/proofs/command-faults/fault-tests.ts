import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '#api/operations.ts';
import type { CommandOperation } from '#api/pipeline/operation.ts';
import { openRandom } from '#test/faults/harness/random.ts';
import { type Fault, faultKinds } from '#test/support/database/statement-faults.ts';
import { readSeed } from '#test/support/seed.ts';
import { CommandFaults } from './command-faults.ts';

/**
 * `npm run test:proofs` tries every command with every fault at every statement that it sends. `npm test` tries a few random
 * faults of some random commands. The title of a failing test contains its seed (`PROOFS_SEED`).
 */
const isAll = process.env['PROOFS'] === 'all';
const seed = readSeed('PROOFS_SEED');
const someCommands = 15;
const someFaults = 2;

const commands = operations.filter((operation): operation is CommandOperation => operation.kind === 'command');
const chosen = isAll ? commands : openRandom(seed, 'commands').shuffle(commands).slice(0, someCommands);

/** Tries one part of the commands, each `parts`th of them, so that several processes share the work. */
export function tryCommandFaults({ part, parts }: { readonly part: number; readonly parts: number }): void {
  const own = chosen.filter((_, index) => index % parts === part - 1);
  /** Bootstrap comes last, because its test removes all users. */
  const inOrder = [...own].sort(
    (one, other) => Number(one.id.startsWith('bootstrap')) - Number(other.id.startsWith('bootstrap')),
  );

  describe('a command whose database rejects a statement, disconnects or stops answering', () => {
    let faults: CommandFaults;
    beforeAll(async () => {
      faults = await CommandFaults.open();
    });
    afterAll(() => faults?.close());

    it.each(inOrder.map((operation) => [operation.id, operation] as const))(
      `%s is carried out completely or not at all, and the response says which (seed ${seed})`,
      (id, operation) => tryFaults(faults, id, operation),
      isAll ? 600_000 : 120_000,
    );
  });
}

async function tryFaults(faults: CommandFaults, id: string, operation: CommandOperation): Promise<void> {
  const wrong: string[] = [];
  let tried = 0;
  for (const fault of choose(id, await faults.succeed(operation))) {
    const outcome = await faults.fail(operation, fault);
    if (outcome.hasStruck) tried += 1;
    const statement = outcome.statements[fault.at] ?? 'no statement';
    wrong.push(...outcome.wrong.map((what) => `${fault.kind} at ${fault.at} (${statement}): ${what}`));
  }
  expect(wrong.join('\n')).toBe('');
  if (isAll) console.log(`${id}: ${tried} faults`);
}

/** A later request may send a few more statements than the first one. Those are not tried. */
function choose(id: string, statements: number): Fault[] {
  const all = faultKinds.flatMap((kind) => Array.from({ length: statements }, (_, at): Fault => ({ kind, at })));
  if (isAll) return all;
  return openRandom(seed, id).shuffle(all).slice(0, someFaults);
}
