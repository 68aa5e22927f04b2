import type { Em } from '#database/database.ts';
import { loadVersionById } from '#domain/registry/publication/published.ts';
import { maskVariables } from '#domain/registry/variables/variables.ts';
import { propertiesOf } from '#domain/registry/variables/walk.ts';
import { defaultsOf } from '#domain/runs/admission/inputs/merge-inputs.ts';
import { responsiblePerson } from '#domain/runs/approval/rules.ts';
import { findSecretVariables } from '#domain/runs/references/secret-outputs.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { Masked } from '#domain/shared/values/masked.ts';
import type { EnvironmentVariables } from '#domain/variables/loaded.ts';
import type { PathChange } from '../change/changes.ts';
import { inputsOf, type Leaf, type Leaves, liesIn, namesOf } from '../change/leaves.ts';
import { findCandidate, judgeChanges, judgeUndoable, type PathVerdict } from '../change/verdicts.ts';
import type { Deployments } from '../deployments/deployments.ts';
import type { ShownCandidate } from '../entity.ts';
import type { Problem, ShownChange, Verdict } from '../model.ts';
import { type Candidate, digestCandidate, toCandidate } from './candidate.ts';
import { type GivenNow, keepGiven } from './keep-given.ts';
import { findRepeated, findSecretOfOthers } from './secret-rule.ts';

const masked = { sensitive: true } as const satisfies Masked;

/** A change that would be undone, in the form for people: with version numbers instead of ids, and with masked secrets. */
function showChange(
  { path, before, after }: PathChange,
  { sensitive, versions }: { sensitive: ReadonlySet<string>; versions: ReadonlyMap<string, string> },
): ShownChange {
  const show = (leaf: Leaf): JsonValue => {
    if (liesIn(path, '/environment') || sensitive.has(namesOf(path)[1] ?? '')) return masked;
    if (leaf.kind === 'object') return {};
    return path === '/version' ? (versions.get(String(leaf.value)) ?? null) : leaf.value;
  };
  return { path: shownPath(path, sensitive), ...(after && { from: show(after) }), ...(before && { to: show(before) }) };
}

/** Cuts a path at a secret variable: the names of the members of a secret are part of it, and must not be shown. */
function shownPath(path: string, sensitive: ReadonlySet<string>): string {
  const [kind, name] = namesOf(path);
  if (kind !== 'variables' || !sensitive.has(name ?? '')) return path;
  return path.split('/').slice(0, 3).join('/');
}

/** Keeps the last item of each path. */
function uniqueByPath<Item extends { readonly path: string }>(items: readonly Item[]): Item[] {
  return [...new Map(items.map((item) => [item.path, item])).values()];
}

/** The result of comparing the runs, without a scan, for undoing one of them. */
export interface Assessment {
  readonly verdicts: Verdict[];
  readonly changes: ShownChange[];
  /** Null unless every path is clean. */
  readonly candidate: Candidate | null;
  readonly problem: Problem | null;
}

/** Judges the change of one run of the deployments, for the person who asks. `given`: the present defaults of the environment. */
export async function assess(
  em: Em,
  deployments: Deployments,
  runId: string,
  { principal, given }: { readonly principal: Principal; readonly given: EnvironmentVariables['template'] },
): Promise<Assessment> {
  const { runs, history } = deployments;
  const entry = history.find(runId);
  if (!entry) throw new Error(`the run ${runId} is not among the deployments of its instance`);
  const versions = new Map(runs.map(({ row }) => [row.versionId, row.version]));
  const sensitive = new Set(runs.flatMap((run) => run.sensitive));
  const judged = judgeChanges(history, entry);
  const later = { isUndo: (id: string) => history.find(id)?.run.undoes === runId, isUndoable: judgeUndoable(history) };
  const verdicts = judged.map((verdict) => toVerdict(verdict, sensitive, later));
  const changes = entry.changes.map((change) => showChange(change, { sensitive, versions }));
  const leaves = findCandidate(history, entry, judged);
  const now = leaves && (await readGivenNow(em, leaves, given));
  const kept = leaves && now && keepGiven(leaves, entry, deployments, now);
  const wanted = kept && withGiven(toCandidate(kept.leaves, deployments), kept.given, given);
  const defaults = now?.defaults;
  const keptVerdicts = entry.kept.map(({ path }) => keptVerdict(path, sensitive, kept?.given ?? []));
  const person = responsiblePerson(principal);
  const secret = wanted && defaults && findSecretOfOthers(wanted, deployments, { person, given: defaults });
  const repeats = secret ? findRepeated(wanted, deployments) : null;
  const candidate = wanted && { ...wanted, repeats };
  const problem = secret && repeats?.length === 0 ? secretAtRisk(secret) : null;
  return {
    verdicts: uniqueByPath([...verdicts, ...keptVerdicts].toSorted(cleanFirst)).sort(byPath),
    changes: uniqueByPath(changes),
    candidate,
    problem,
  };
}

async function readGivenNow(em: Em, leaves: Leaves, template: EnvironmentVariables['template']): Promise<GivenNow> {
  const { variables: schema } = (await loadVersionById(em, inputsOf(leaves).version)).spec;
  return {
    template,
    defaults: defaultsOf(schema, template),
    declared: new Set(Object.keys(propertiesOf(schema))),
  };
}

/** Marks the variables that the environment provides; those that the environment has made secret since become secret. */
function withGiven(
  candidate: Candidate,
  given: readonly string[],
  template: EnvironmentVariables['template'],
): Candidate {
  const secret = given.filter((name) => template[name]?.sensitive);
  return { ...candidate, given, sensitive: [...new Set([...candidate.sensitive, ...secret])] };
}

/** The verdict for a value that only the environment or a variable set has changed: the undo keeps it. */
function keptVerdict(path: string, sensitive: ReadonlySet<string>, given: readonly string[]): Verdict {
  const isGivenNow = given.includes(namesOf(path)[1] ?? '');
  const message = isGivenNow
    ? 'the environment or a variable set changed it, not the run: the undo keeps the value that it gives now'
    : 'the environment or a variable set changed it, not the run: the undo keeps what is deployed now';
  return { path: shownPath(path, sensitive), verdict: 'kept', cause: { message } };
}

/** Sorts verdicts that are not clean last. Paths inside a secret become one path, and only the last verdict of a path appears. */
function cleanFirst(one: Verdict, other: Verdict): number {
  return Number(one.verdict !== 'clean') - Number(other.verdict !== 'clean');
}

function byPath(one: Verdict, other: Verdict): number {
  return one.path < other.path ? -1 : 1;
}

/** What is known about the later runs that prevent an undo. */
interface LaterRuns {
  /** Whether a run is an undo of the run itself. A message should not advise people to undo that run in order to undo this one again. */
  readonly isUndo: (id: string) => boolean;
  /** Null: not known. */
  readonly isUndoable: (id: string) => boolean | null;
}

function toVerdict(judged: PathVerdict, sensitive: ReadonlySet<string>, later: LaterRuns): Verdict {
  const path = shownPath(judged.path, sensitive);
  switch (judged.verdict) {
    case 'clean':
      return { path, verdict: 'clean', cause: null };
    case 'superseded': {
      if (later.isUndo(judged.byRun)) {
        const message = `the run ${judged.byRun} has undone it already`;
        return { path, verdict: 'superseded', cause: { message, runId: judged.byRun, isUndoable: false } };
      }
      const cause = causeOf(judged.byRun, 'changed it later', later);
      return { path, verdict: 'superseded', cause };
    }
    case 'depended_on': {
      const dependent = shownPath(judged.dependent, sensitive);
      const cause = causeOf(judged.byRun, `put ${dependent} into it later`, later);
      return { path, verdict: 'depended_on', cause: { ...cause, path: dependent } };
    }
    case 'irreversible':
      return { path, verdict: 'irreversible', cause: { message: irreversible(path) } };
  }
}

/** A cause that names a later run and advises what to do about it, as far as that is possible. */
function causeOf(runId: string, did: string, { isUndoable: judge }: LaterRuns) {
  const isUndoable = judge(runId);
  const advice =
    isUndoable === false
      ? ' and cannot be undone itself: apply the value that you want in a new run'
      : ': undo that run first, or apply the value that you want in a new run';
  return { message: `the run ${runId} ${did}${advice}`, runId, isUndoable };
}

function irreversible(path: string): string {
  if (path === '/version') return 'the run was the first to deploy the instance: destroy the instance instead';
  return 'a run takes its environment variables from its environment: change the variable there, and apply again';
}

function secretAtRisk(name: string): Problem {
  const message = `undoing the run would give the secret variable ${JSON.stringify(name)}, which another person set, to inputs that it was never deployed with: apply the values that you want in a new run, and name the secret there`;
  return { code: 'secret_at_risk', message, runId: null };
}

/** The candidate in the form for people, with masked secrets. */
export async function showCandidate(
  em: Em,
  bindingKey: Buffer,
  attemptId: string,
  candidate: Candidate,
): Promise<ShownCandidate> {
  const { version, spec } = await loadVersionById(em, candidate.versionId);
  const sensitive = [...candidate.sensitive, ...(await findSecretVariables(em, candidate.reads))];
  const variables = maskVariables(spec.variables, candidate.variables, sensitive);
  return { digest: digestCandidate(bindingKey, attemptId, candidate), version, variables };
}
