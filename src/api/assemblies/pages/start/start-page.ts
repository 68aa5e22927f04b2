import type { FastifyReply } from 'fastify';
import { readEntry, sealSecrets } from '#api/registry/pages/run/carried-secrets.ts';
import { areShown, type Values } from '#api/registry/pages/run/compared.ts';
import { findDifferences } from '#api/registry/pages/run/differences.ts';
import { explainProblems, joinProblems, variableProblems, versionProblem } from '#api/registry/pages/run/run-form.ts';
import { resolveNames } from '#api/web/forms/named-choices.ts';
import { type FormProblems, submit } from '#api/web/forms/problems.ts';
import { readEdit } from '#api/web/forms/schema/edit.ts';
import {
  editVariables,
  fillVariables,
  readVariables,
  secretPart,
  type VariablesEntry,
} from '#api/web/forms/schema/variables.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { newId } from '#domain/shared/ids.ts';
import { run } from '../../run-operations.ts';
import type { AssemblyVisit } from '../views.ts';
import { readStartFacts, type StartFacts } from './facts.ts';
import { hasUnseenInstance } from './node-instances.ts';
import { startPage, targetFields } from './start-view.ts';
import { type Basic, readSentStart } from './submission.ts';

/** Shows the form for an assembly run, empty or filled in from an earlier one (`?from=`). */
export async function showStart(visit: AssemblyVisit): Promise<FastifyReply> {
  const facts = await readStartFacts(visit, {
    version: visit.query('version'),
    operation: visit.query('operation'),
    environment: visit.query('environment_id'),
  });
  const { repeated, root } = facts;
  const secrets = new Set(secretPart(root).members.map(({ name }) => name));
  const given = Object.entries(facts.values);
  const entry = fillVariables(root, Object.fromEntries(given.filter(([name]) => !secrets.has(name))));
  const basic = {
    version: visit.query('version') ?? repeated?.version ?? '',
    environment_id: visit.query('environment_id') ?? repeated?.environment_id ?? '',
    operation: visit.query('operation') ?? repeated?.operation ?? 'apply',
    message: repeated?.message ?? '',
  };
  const only = repeated?.only ?? [];
  const shown = { basic, only, problems: null, isToConfirm: false };
  return visit.show(startPage({ ...carry(visit, facts, entry, newId()), ...shown }));
}

/** Handles the form. A button inside it shows it again with a change. The button at its end starts the run. */
export async function submitStart(visit: AssemblyVisit): Promise<FastifyReply> {
  const { basic, only, fields } = readSentStart(visit.request.body);
  const { version: wanted, operation, environment_id: environment } = basic;
  const facts = await readStartFacts(visit, { version: wanted, operation, environment });
  const edit = readEdit(basic.do);
  const { key, carried } = basic;
  const { entry: entered, lost } = readEntry(visit, facts.root, { fields, key, carried });
  const again = (
    entry: VariablesEntry,
    problems: FormProblems | null,
    { key = basic.key, isToConfirm = false } = {},
  ) => {
    const page = startPage({ ...carry(visit, facts, entry, key || newId()), basic, only, problems, isToConfirm });
    return visit.show(page, problems?.status ?? 200);
  };
  if (edit) return again(editVariables(facts.root, entered, edit), lost);
  const { values, problems: found } = readVariables(facts.root, entered);
  const problems = joinProblems(lost, findProblems(facts, basic, found));
  if (problems) return again(entered, problems);
  if (isUnseen(facts, basic, values)) return again(entered, null, { isToConfirm: true });
  const sent = await submit(visit, ['version', 'environment_id', 'operation', 'message', 'only'], async () =>
    request(visit, facts, { basic: await resolveNames(visit, targetFields({ facts, basic }), basic), only, values }),
  );
  if (!sent.done) {
    const isUsed = sent.problems.code === 'idempotency_key_reused';
    return again(entered, explainProblems(sent.problems), isUsed ? { key: '' } : {});
  }
  const params = { id: visit.params.id, runID: sent.result.id };
  return visit.redirect(pagePath(pages.assemblyRun, params, { done: 'admitted' }));
}

/** Why the run cannot be requested yet; null if it can. `found` are the problems of the variables. */
function findProblems(
  facts: StartFacts,
  basic: Basic,
  found: Parameters<typeof variableProblems>[0],
): FormProblems | null {
  const { version, assembly } = facts;
  const early = joinProblems(
    versionProblem(basic.shown, version),
    basic.environment_id === '' ? environmentMissing : null,
  );
  if (early) return early;
  // A destroy takes its variables from the deployment.
  if (basic.operation !== 'destroy') return found.length > 0 ? variableProblems(found) : null;
  return basic.confirmation.trim() === assembly.name.trim() ? null : unconfirmed(facts);
}

/** Whether the run would change something that is deployed, by this assembly or by others, which the visitor has not seen. */
function isUnseen(facts: StartFacts, { compared, taken }: Basic, values: Values): boolean {
  const { replaced, version, instances } = facts;
  if (hasUnseenInstance(instances, taken)) return true;
  if (!replaced || !version) return false;
  const differences = findDifferences(facts, replaced, { values, omitted: [] });
  return !areShown(compared, { baseline: replaced, version: version.version }, differences);
}

/** Entered secrets are not shown again. The form contains them sealed. */
function carry(visit: AssemblyVisit, facts: StartFacts, entry: VariablesEntry, key: string) {
  const carried = sealSecrets(visit, key, facts.root, entry);
  return { facts, entry, key, carried, omitted: [], address: visit.request.url };
}

const environmentMissing: FormProblems = {
  status: 422,
  fields: { environment_id: 'Choose an environment.' },
  others: [],
};

/** People confirm a destroy by typing the name of the assembly. */
const unconfirmed = ({ assembly }: StartFacts): FormProblems => ({
  status: 422,
  fields: { confirmation: `Type ${assembly.name}: this run destroys what its nodes have deployed.` },
  others: [],
});

interface WantedStart {
  readonly basic: Basic;
  readonly only: readonly string[];
  readonly values: Values;
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
