import type { FastifyReply } from 'fastify';
import { createRun } from '#api/runs/operations.ts';
import { copy } from '#api/runs/repeat-operations.ts';
import { refusedPage } from '#api/web/forms/form-page.ts';
import { type FormProblems, submit } from '#api/web/forms/problems.ts';
import { refusalOf } from '#api/web/forms/resource-forms.ts';
import { readEdit } from '#api/web/forms/schema/edit.ts';
import {
  decodeVariables,
  editVariables,
  fillVariables,
  readVariables,
  type VariablesEntry,
} from '#api/web/forms/schema/variables.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { differencesShown, findChanges, findDifferences } from './deployed.ts';
import { type RunFacts, readRunFacts } from './facts.ts';
import type { RunFormVisit } from './form-visit.ts';
import { choiceProblems, explainProblems, otherProblem, variableProblems } from './run-problems.ts';
import { headOf, runPage } from './run-view.ts';
import { type BasicField, basicFields, readSentForm, refuseUnknownFields, type SentForm } from './sent.ts';

type Basic = SentForm['basic'];

/** Shows the form for a run, empty or filled in from an older run (`?from=`). */
export async function showRunForm(visit: RunFormVisit): Promise<FastifyReply> {
  const facts = await readRunFacts(visit, {
    version: visit.query('version'),
    environmentId: visit.query('environment_id'),
  });
  const { source, deployed, root } = facts;
  const refusal = findRefusal(facts);
  if (refusal !== null)
    return visit.show(refusedPage({ ...headOf(facts), cancel: pagePath(pages.template, visit.params), refusal }));
  const basic: Partial<Basic> = {
    version: visit.query('version') ?? source?.template_version ?? '',
    instance: visit.query('instance') ?? source?.instance ?? '',
    operation: visit.query('operation') ?? source?.operation ?? 'apply',
    replace: source?.replace.join('\n') ?? '',
    ...basicOptions(source?.options),
    message: source?.message ?? '',
  };
  const entry = fillVariables(
    root,
    (source?.prefill?.variables ?? deployed?.values ?? {}) as Record<string, JsonValue>,
  );
  return showAgain(visit, facts, basic, entry, choiceProblems(facts));
}

/** Why the visitor may not run this. A template without versions says so in its own way. */
function findRefusal({ source, template, version }: RunFacts): string | null {
  if (source) return refusalOf(source.actions, 'copy');
  return version === null ? null : refusalOf(template.actions, 'run');
}

/** Takes the form: a button inside it shows it again with a change, the other one asks for the run. */
export async function submitRunForm(visit: RunFormVisit): Promise<FastifyReply> {
  const sent = readSentForm(visit.request.body);
  const { basic } = sent;
  const facts = await readRunFacts(visit, { version: basic.version, environmentId: basic.environment_id });
  const edit = readEdit(basic.do);
  if (basic.shown === facts.version?.version) refuseUnknownFields(sent, facts.root);
  const decoded = decodeVariables(sent.fields, facts.root);
  const unknown = choiceProblems(facts);
  if (edit) return showAgain(visit, facts, basic, editVariables(facts.root, decoded, edit), unknown);
  if (unknown) return showAgain(visit, facts, basic, decoded, unknown);
  if (facts.version && basic.shown !== facts.version.version)
    return showAgain(
      visit,
      facts,
      basic,
      decoded,
      otherProblem(
        `The fields now belong to version ${facts.version.version}. Check them, then submit the form again.`,
      ),
    );
  if (!facts.source && !facts.deployed && basic.environment_id === '' && facts.environments.length > 0)
    return showAgain(visit, facts, basic, decoded, noChoice);
  return admit(visit, facts, basic, decoded);
}

/** The differences stand in the form that is shown again. */
const unseenDifferences = otherProblem(
  'Nothing has started yet. Check “Changes to what is deployed” at the end of the form, then press Run again.',
);

const noChoice: FormProblems = {
  status: 422,
  fields: { environment_id: 'Choose an environment, or none.' },

  others: [],
};

async function admit(visit: RunFormVisit, facts: RunFacts, basic: Basic, entry: VariablesEntry): Promise<FastifyReply> {
  const { values, problems } = readVariables(facts.root, entry);
  if (problems.length > 0) return showAgain(visit, facts, basic, entry, variableProblems(problems));
  if (facts.deployed && facts.version && basic.operation !== 'destroy') {
    const differences = findDifferences(facts.deployed, facts.root, values);
    if (differencesShown(facts.version.version, differences) !== basic.compared)
      return showAgain(visit, facts, basic, entry, unseenDifferences);
  }
  const names: BasicField[] = [...basicFields].filter((name) => !['shown', 'compared', 'key', 'do'].includes(name));
  const sent = await submit(visit, names, () => request(visit, facts, basic, values));
  if (sent.done) return visit.redirect(pagePath(pages.run, { id: sent.result.id }, { done: 'admitted' }));
  const isUsed = sent.problems.code === 'idempotency_key_reused';
  return showAgain(visit, facts, isUsed ? { ...basic, key: '' } : basic, entry, explainProblems(sent.problems));
}

function request(visit: RunFormVisit, facts: RunFacts, basic: Basic, variables: Record<string, JsonValue>) {
  const { source, deployed, version } = facts;
  // A destroy without a wish uses the version of the deployment. Everything else runs the version whose form was filled in.
  const isLeftOpen = basic.operation === 'destroy' && basic.version === '';
  const body = {
    operation: basic.operation,
    replace: toAddresses(basic.replace),
    options: toOptions(basic),
    message: basic.message,
    ...(basic.operation === 'destroy' && basic.despite_dependents === 'yes' && { despite_dependents: true }),
    variables,
    ...(version && !isLeftOpen && { version: version.version }),
    ...(basic.instance && { instance: basic.instance }),
  };
  if (source) {
    const before = Object.keys(source.prefill?.variables ?? {});
    const omit = before.filter((name) => !Object.hasOwn(variables, name));
    return visit.run(copy, { params: { id: source.id }, body: { ...body, omit } });
  }
  if (deployed) {
    const { variables: changed, omit } = findChanges(deployed, facts.root, variables);
    const place = {
      instance: deployed.instance.name,
      ...(deployed.environmentId && { environment_id: deployed.environmentId }),
    };
    const start = {
      ...place,
      variables_from: 'deployed',
      variables: changed,
      ...(omit.length > 0 && basic.operation !== 'destroy' && { omit: [...omit] }),
    };
    return visit.run(createRun, { body: { ...body, ...start, template_id: visit.params.id } });
  }
  const environment = facts.environmentId ? { environment_id: facts.environmentId } : {};
  return visit.run(createRun, { body: { ...body, ...environment, template_id: visit.params.id } });
}

function toAddresses(lines: string): string[] {
  return lines.split('\n').flatMap((line) => line.trim() || []);
}

/** The options of the body. One that is empty is as usual. */
function toOptions(basic: Basic): object {
  return {
    target: toAddresses(basic['options.target']),
    exclude: toAddresses(basic['options.exclude']),
    ...(basic['options.refresh'] === 'no' && { refresh: false }),
    ...(basic['options.log_level'] !== '' && { log_level: basic['options.log_level'] }),
    ...(basic['options.parallelism'] !== '' && { parallelism: Number(basic['options.parallelism']) }),
  };
}

function basicOptions(options: NonNullable<RunFacts['source']>['options'] | undefined): Partial<Basic> {
  if (!options) return {};
  return {
    'options.target': options.target.join('\n'),
    'options.exclude': options.exclude.join('\n'),
    'options.refresh': options.refresh ? '' : 'no',
    'options.parallelism': String(options.parallelism ?? ''),
    'options.log_level': options.log_level ?? '',
  };
}

function showAgain(
  visit: RunFormVisit,
  facts: RunFacts,
  basic: Partial<Basic>,
  entry: VariablesEntry,
  problems: FormProblems | null,
): Promise<FastifyReply> {
  const page = runPage({ facts, basic, entry, problems, address: visit.request.url });
  return visit.show(page, problems?.status ?? 200);
}
