import type { FastifyReply } from 'fastify';
import { refusedPage } from '#api/web/forms/form-page.ts';
import { type FormProblems, submit } from '#api/web/forms/problems.ts';
import { refusalOf } from '#api/web/forms/resource-forms.ts';
import { readEdit } from '#api/web/forms/schema/edit.ts';
import { editVariables, fillVariables, readVariables, type VariablesEntry } from '#api/web/forms/schema/variables.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { newId } from '#domain/shared/ids.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { readEntry, sealSecrets } from './carried-secrets.ts';
import { areShown, type Values } from './compared.ts';
import { type RunFormVisit, takeBack } from './deployed.ts';
import { findDifferences } from './differences.ts';
import { nameOfTarget, type RunFacts, readRunFacts } from './facts.ts';
import { askedProblems, choiceProblems, explainProblems, joinProblems, versionProblem } from './run-form.ts';
import { fillOptions, findEarlyProblems, requestRun } from './run-request.ts';
import { headOf, runPage } from './run-view.ts';
import {
  type BasicField,
  basicFields,
  hiddenFields,
  readSentForm,
  refuseUnknownFields,
  type SentForm,
} from './submission.ts';

type Basic = SentForm['basic'];

/** Shows the form for a run, empty or filled in from an older run (`?from=`). */
export async function showRunForm(visit: RunFormVisit): Promise<FastifyReply> {
  const facts = await readRunFacts(visit, {
    version: visit.query('version'),
    environment: visit.query('environment_id'),
    instance: visit.query('instance'),
    operation: visit.query('operation'),
  });
  const { deployed, root } = facts;
  const refusal = findRefusal(facts);
  if (refusal !== null)
    return visit.show(refusedPage({ ...headOf(facts), cancel: pagePath(pages.template, visit.params), refusal }));
  const values = facts.source?.prefill?.variables ?? deployed?.values;
  const entry = fillVariables(root, takeBack((values ?? {}) as Values, facts.undone) as Record<string, JsonValue>);
  const basic = fillBasic(visit, facts);
  return showForm(visit, facts, { basic, entry, omitted: [] }, { problems: choiceProblems(facts) });
}

/**
 * The initial values of the form. A copy takes over everything from its run. Deploying a destroyed instance again takes over only its
 * variables, version and name.
 */
function fillBasic(visit: RunFormVisit, { source, notDeployed }: RunFacts): Partial<Basic> {
  const copied = notDeployed ? null : source;
  return {
    version: visit.query('version') ?? source?.template_version ?? '',
    instance: source && notDeployed ? source.instance : (visit.query('instance') ?? source?.instance ?? ''),
    operation: visit.query('operation') ?? copied?.operation ?? 'apply',
    replace: copied?.replace.join('\n') ?? '',
    ...fillOptions(copied?.options),
    message: copied?.message ?? '',
  };
}

/** Why the visitor may not run this. Null for a template without versions, for which the form itself says it. */
function findRefusal({ source, template, version, environmentLost }: RunFacts): string | null {
  if (environmentLost !== null) return environmentLost;
  if (source) return refusalOf(source.actions, 'copy');
  return version === null ? null : refusalOf(template.actions, 'run');
}

/** The content of a sent form, including the secrets that it carried along. */
interface Filled {
  readonly basic: Partial<Basic>;
  readonly entry: VariablesEntry;
  readonly omitted: readonly string[];
}
type SentFilled = Filled & { readonly basic: Basic };

/** Handles the form. A button inside it shows it again with a change. The button at its end starts the run. */
export async function submitRunForm(visit: RunFormVisit): Promise<FastifyReply> {
  const sent = readSentForm(visit.request.body);
  const { basic, omitted } = sent;
  const { version, environment_id: environment, instance, operation } = basic;
  const chosen = { version, environment, instance, operation };
  const facts = await readRunFacts(visit, chosen);
  const edit = readEdit(basic.do);
  if (basic.shown === facts.version?.version) refuseUnknownFields(sent, facts.root);
  const { fields } = sent;
  const { key, carried } = basic;
  const { entry, lost } = readEntry(visit, facts.root, { fields, key, carried, omitted });
  const unknown = joinProblems(choiceProblems(facts), lost);
  if (edit) {
    const edited = { basic, entry: editVariables(facts.root, entry, edit), omitted };
    return showForm(visit, facts, edited, { problems: unknown });
  }
  const filled = { basic, entry, omitted };
  const stale = versionProblem(basic.shown, facts.version);
  const { values, problems: unread } = readVariables(facts.root, entry);
  // Values for another version may be invalid for this one, which is not the visitor's mistake.
  const early = stale ? null : await findEarlyProblems(visit, facts, { basic, values, unread });
  const problems = joinProblems(unknown, stale, findUnchosen(facts, basic), early);
  return problems ? showForm(visit, facts, filled, { problems }) : admit(visit, facts, filled, values);
}

/** Requires a choice of the environment, because a run without one may belong to nobody. */
function findUnchosen({ source, deployed, environments }: RunFacts, basic: Basic): FormProblems | null {
  const isOpen = !source && !deployed && basic.environment_id === '' && environments.choices.length > 0;
  return isOpen ? { status: 422, fields: { environment_id: 'Choose an environment, or none.' }, others: [] } : null;
}

async function admit(visit: RunFormVisit, facts: RunFacts, filled: SentFilled, values: Values): Promise<FastifyReply> {
  const { basic } = filled;
  const unseen = findUnseen(facts, filled, values);
  if (unseen) return showForm(visit, facts, filled, unseen);
  const names: BasicField[] = [...basicFields].filter((name) => !hiddenFields.includes(name));
  const sent = await submit(visit, names, () => requestRun(visit, facts, filled, values));
  if (sent.done) return visit.redirect(pagePath(pages.run, { id: sent.result.id }, { done: 'admitted' }));
  const isUsed = sent.problems.code === 'idempotency_key_reused';
  const again = isUsed ? { ...filled, basic: { ...basic, key: '' } } : filled;
  return showForm(visit, facts, again, { problems: explainProblems(sent.problems) });
}

/** Why the form must be shown again before it changes a deployment; null if the visitor has seen everything. */
function findUnseen(facts: RunFacts, { basic, omitted }: SentFilled, values: Values): FormState | null {
  const baseline = facts.deployed ?? facts.replaced;
  if (basic.operation === 'destroy') return findUnconfirmed(basic, nameOfTarget(facts, basic));
  if (!facts.version) return null;
  if (!baseline) return isOccupantSeen(facts, basic) ? null : { problems: null, isToConfirm: true };
  const differences = findDifferences(facts, baseline, { values, omitted });
  const asked = differences.filter(({ kind }) => kind === 'asked');
  if (asked.length > 0)
    return {
      problems: askedProblems(
        asked.map(({ variable }) => variable),
        facts.secretsOfOthers,
      ),
    };
  return areShown(basic.compared, { baseline, version: facts.version.version }, differences)
    ? null
    : { problems: null, isToConfirm: true };
}

/** Whether the visitor has seen that an instance exists. Without a known deployment, there is nothing to compare with. */
function isOccupantSeen({ occupied }: RunFacts, { compared }: Basic): boolean {
  return occupied === null || compared === occupied.id;
}

/** Checks the name that confirms a destroy. When the form is sent for the first time, it does not have this field yet. */
function findUnconfirmed({ confirmation }: Basic, name: string): FormState | null {
  if (confirmation.trim() === name.trim()) return null;
  if (confirmation === '') return { problems: null, isToConfirm: true };
  return { problems: { status: 422, fields: { confirmation: `Is another name: type ${name} exactly.` }, others: [] } };
}

/** The messages above the fields of a form. */
interface FormState {
  readonly problems: FormProblems | null;
  readonly isToConfirm?: boolean;
}

function showForm(
  visit: RunFormVisit,
  facts: RunFacts,
  { basic, entry, omitted }: Filled,
  { problems, isToConfirm = false }: FormState,
): Promise<FastifyReply> {
  const key = basic.key || newId();
  const carried = sealSecrets(visit, key, facts.root, entry);
  const shown = {
    facts,
    basic: { ...basic, key },
    entry,
    omitted,
    carried,
    problems,
    isToConfirm,
    isSent: visit.request.method === 'POST',
  };
  return visit.show(runPage({ ...shown, address: visit.request.url }), problems?.status ?? 200);
}
