import type { FastifyReply } from 'fastify';
import { addCarried, sealSecrets } from '#api/registry/pages/run/carried-secrets.ts';
import { explainProblems, lostSecrets, otherProblem, variableProblems } from '#api/registry/pages/run/run-problems.ts';
import { readNamed } from '#api/web/forms/named-choices.ts';
import { type FormProblems, submit } from '#api/web/forms/problems.ts';
import { readEdit } from '#api/web/forms/schema/edit.ts';
import {
  decodeVariables,
  editVariables,
  fillVariables,
  readVariables,
  secretPart,
  type VariablesEntry,
} from '#api/web/forms/schema/variables.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { newId } from '#domain/shared/ids.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { run } from '../../run-operations.ts';
import type { AssemblyVisit } from '../shown.ts';
import { readStartFacts, type StartFacts } from './facts.ts';
import { type Basic, readSentStart } from './sent.ts';
import { startPage, targetFields } from './start-view.ts';

/** Shows the form for an assembly run, empty or filled in from an earlier one (`?from=`). */
export async function showStart(visit: AssemblyVisit): Promise<FastifyReply> {
  const facts = await readStartFacts(visit, visit.query('version'), visit.query('operation'));
  const { source, root } = facts;
  // The secrets of the earlier run are masked, so they are entered anew.
  const secrets = new Set(secretPart(root).members.map(({ name }) => name));
  const given = Object.entries((source?.variables ?? {}) as Record<string, JsonValue>);
  const entry = fillVariables(root, Object.fromEntries(given.filter(([name]) => !secrets.has(name))));
  const basic = {
    version: visit.query('version') ?? source?.version ?? '',
    environment_id: source?.environment_id ?? visit.query('environment_id') ?? '',
    operation: visit.query('operation') ?? source?.operation ?? 'apply',
    message: source?.message ?? '',
  };
  const only = source?.only ?? [];
  return visit.show(startPage({ ...carry(visit, facts, entry, newId()), basic, only, problems: null }));
}

/** Takes the form: a button inside it shows it again with a change, the other one asks for the run. */
export async function submitStart(visit: AssemblyVisit): Promise<FastifyReply> {
  const { basic, only, fields } = readSentStart(visit.request.body);
  const facts = await readStartFacts(visit, basic.version, basic.operation);
  const edit = readEdit(basic.do);
  const decoded = decodeVariables(fields, facts.root);
  const { keyRing } = visit.context.services;
  const full = addCarried(keyRing, carriedBy(visit, basic.key), facts.root, {
    entry: decoded,
    carried: basic.carried,
  });
  const entered = full ?? decoded;
  const again = (entry: VariablesEntry, problems: FormProblems | null, key = basic.key) => {
    const page = startPage({ ...carry(visit, facts, entry, key || newId()), basic, only, problems });
    return visit.show(page, problems?.status ?? 200);
  };
  if (edit) return again(editVariables(facts.root, entered, edit), null);
  const { version } = facts;
  if (version && basic.shown !== version.version) {
    const text = `The fields now belong to version ${version.version}. Check them, then submit the form again.`;
    return again(entered, otherProblem(text));
  }
  if (!full) return again(entered, lostSecrets);
  if (basic.environment_id === '') return again(entered, noEnvironment);
  const { values, problems } = readVariables(facts.root, entered);
  // A destroy takes its variables from what was deployed.
  if (problems.length > 0 && basic.operation !== 'destroy') return again(entered, variableProblems(problems));
  if (basic.operation === 'destroy' && basic.confirmation.trim() !== facts.assembly.name.trim())
    return again(entered, unconfirmed(facts));
  const sent = await submit(visit, ['version', 'environment_id', 'operation', 'message', 'only'], async () =>
    request(visit, facts, { basic: await readNamed(visit, targetFields({ facts, basic }), basic), only, values }),
  );
  if (!sent.done) {
    const isUsed = sent.problems.code === 'idempotency_key_reused';
    return again(entered, explainProblems(sent.problems), isUsed ? '' : basic.key);
  }
  const params = { id: visit.params.id, runID: sent.result.id };
  return visit.redirect(pagePath(pages.assemblyRun, params, { done: 'admitted' }));
}

/** Secrets that were entered are not shown again. The form carries them along sealed. */
function carry(visit: AssemblyVisit, facts: StartFacts, entry: VariablesEntry, key: string) {
  const carried = sealSecrets(visit.context.services.keyRing, carriedBy(visit, key), facts.root, entry);
  return { facts, entry, key, carried, address: visit.request.url };
}

function carriedBy({ principal, params }: AssemblyVisit, key: string) {
  return { principalId: principal.id, subjectId: params.id, key };
}

const noEnvironment: FormProblems = {
  status: 422,
  fields: { environment_id: 'Choose an environment.' },

  others: [],
};

/** A destroy is confirmed by the name of the assembly. */
const unconfirmed = ({ assembly }: StartFacts): FormProblems => ({
  status: 422,
  fields: { confirmation: `Type ${assembly.name}: this run destroys what its nodes have deployed.` },
  others: [],
});

interface WantedStart {
  readonly basic: Basic;
  readonly only: readonly string[];
  readonly values: Record<string, JsonValue>;
}

function request(visit: AssemblyVisit, { version }: StartFacts, { basic, only, values }: WantedStart) {
  const { environment_id, operation, message } = basic;
  const body = {
    environment_id,
    operation,
    message,
    variables: values,
    ...(version && { version: version.version }),
    ...(only.length > 0 && { only }),
  };
  return visit.run(run, { params: { id: visit.params.id }, body });
}
