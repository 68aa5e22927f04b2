import type { TestApi } from '../../api/in-process-api.ts';
import type { SeededPerson } from '../people.ts';
import { addAttempt } from '../undo.ts';
import { hostileName, hostileText, longWord } from './texts.ts';

/** Attempts whose every text attacks the pages that show it, by what they show. */
export type HostileUndo = Readonly<Record<'blocked' | 'promotable', string>>;

/** Inputs with names that lie and values that never end. */
const changes = [
  { path: `/variables/${hostileName(200)}`, from: hostileText, to: longWord(400) },
  {
    path: `/variables/${longWord(128)}/${longWord(400)}`,
    from: [hostileText, longWord(400)],
    to: { [hostileName()]: 1 },
  },
  { path: '/variables/__proto__', to: hostileText },
  { path: `/environment/${longWord(128)}`, from: hostileText.repeat(50) },
];

const candidate = {
  digest: `hmac-sha256:${'3f9c'.repeat(16)}`,
  version: `1.0.0-${longWord(120)}`,
  variables: { [hostileName()]: hostileText, [longWord(128)]: { [longWord(400)]: hostileText } },
};

/** Adds attempts at undoing a run. */
export async function addHostileUndo(
  api: TestApi,
  by: SeededPerson,
  { run, laterRun }: { readonly run: string; readonly laterRun: string },
): Promise<HostileUndo> {
  const stranger = { ...by, name: hostileName(200) };
  const cause = { message: hostileText, runId: laterRun, addresses: [longWord(400), hostileText] };
  const blocked = await addAttempt(api, run, stranger, {
    state: 'blocked',
    changes,
    verdicts: changes.map(({ path }) => ({ path, verdict: 'drifted', cause })),
    problem: { code: 'drifted', message: hostileText, runId: laterRun },
  });
  const promotable = await addAttempt(api, run, stranger, {
    state: 'promotable',
    changes,
    verdicts: changes.map(({ path }) => ({ path, verdict: 'clean', cause: null })),
    candidate,
    collateral: [hostileText.replaceAll('\n', ' '), longWord(400), `a["${hostileName()}"]`, 'a.b', 'a-b'],
  });
  return { blocked, promotable };
}
