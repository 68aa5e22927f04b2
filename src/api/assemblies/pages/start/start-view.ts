import { compareFields, renderDifferences, renderUnconfirmed } from '#api/registry/pages/run/deployed-view.ts';
import { variablesIn } from '#api/registry/pages/run/run-form.ts';
import { messageField } from '#api/runs/pages/message-field.ts';
import { environmentField } from '#api/tenancy/pages/environment-choices.ts';
import { renderIcon } from '#api/web/components/icon.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderEmpty } from '#api/web/components/table.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import { fieldId, renderCancel, renderFormField } from '#api/web/forms/form.ts';
import type { FormProblems } from '#api/web/forms/problems.ts';
import { typedNameField } from '#api/web/forms/resource-forms.ts';
import { writeEdit } from '#api/web/forms/schema/edit.ts';
import { type PlacedProblems, placeProblems } from '#api/web/forms/schema/places.ts';
import { secretsIn } from '#api/web/forms/schema/secrets.ts';
import type { VariablesEntry } from '#api/web/forms/schema/variables.ts';
import { renderMembers } from '#api/web/forms/schema/view/render.ts';
import { type Html, html } from '#api/web/html.ts';
import type { Page } from '#api/web/layout.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { toSentence } from '#api/web/text.ts';
import { type AssemblySubject, assemblyCrumbs, assemblyPath, assemblyTabPath, operationLabels } from '../views.ts';
import type { StartFacts } from './facts.ts';
import { renderNodeInstances } from './node-instances.ts';
import type { Basic } from './submission.ts';

/** The form for an assembly run, as a page shows it. */
export interface StartForm {
  readonly facts: StartFacts;
  readonly basic: Partial<Basic>;
  readonly only: readonly string[];
  readonly entry: VariablesEntry;
  /** Empty: no secrets are taken over, so none can be dropped. */
  readonly omitted: readonly string[];
  readonly problems: FormProblems | null;
  /** There is no problem: the visitor only has to see what the run changes, and to confirm it. */
  readonly isToConfirm: boolean;
  /** The idempotency key. */
  readonly key: string;
  /** The entered secrets, sealed. */
  readonly carried: string;
  /** The address to which the form is sent: that of the page. */
  readonly address: string;
}

export function startPage(form: StartForm): Page {
  const { assembly, version, repeated } = form.facts;
  const title = repeated ? `Run ${assembly.name} again` : `Run ${assembly.name}`;
  const refusal = assembly.actions.find(({ name, allowed }) => name === 'run' && !allowed)?.reason;
  return {
    title: form.isToConfirm ? `Confirm: ${title}` : title,
    hasProblem: form.problems !== null,
    scripts: ['schema-form.js'],
    main: html`<div class="page">
${renderPageHead({ title, crumbs: assemblyCrumbs(assembly) })}
${renderSource(form.facts)}${renderReplaced(form.facts)}
${refusal ? html`<p class="notice notice-problem">${toSentence(refusal)}</p>` : version ? renderForm(form) : renderEmpty('No version published yet', 'You can run an assembly once it has a published version.')}
</div>`,
  };
}

/** Says from which run the form is filled in. */
function renderSource({ assembly, repeated, replaced }: StartFacts): Html | null {
  if (!repeated) return null;
  const isDeployed = repeated.id === replaced?.run.id;
  return html`<div class="notice">${renderIcon('info')}<p>Filled in from ${isDeployed ? 'the last deployment, by ' : null}${linkRun(assembly, repeated)}. Secrets are not taken over. Nothing starts until you submit it.</p></div>`;
}

/** What the run replaces, unless the form starts from it. */
function renderReplaced({ assembly, repeated, replaced, version }: StartFacts): Html | null {
  if (!replaced || !version) return null;
  const { run } = replaced;
  const isOther = run.version !== version.version;
  const compare = assemblyTabPath(assembly.id, 'compare', { from: run.version, to: version.version });
  const comparison = isOther
    ? html`<a class="button button-small" href="${compare}">Compare ${run.version} with ${version.version}</a>`
    : null;
  if (repeated?.id === run.id) return comparison && html`<p>${comparison}</p>`;
  const start = pagePath(pages.runAssembly, { id: assembly.id }, { from: run.id });
  return html`<div class="notice">${renderIcon('triangle-alert')}<div class="stack"><p><span class="foreign">${assembly.name}</span> is deployed there already: version ${run.version}, by ${linkRun(assembly, run)}${run.only ? ' of only some of its nodes' : null}. A run changes it, and a variable that you leave empty loses its deployed value.</p>
<p><a class="button button-small" href="${start}">Start from what is deployed</a> ${comparison}</p></div></div>`;
}

function linkRun({ id }: AssemblySubject, run: { readonly id: string }): Html {
  return html`<a href="${pagePath(pages.assemblyRun, { id, runID: run.id })}">an earlier run</a>`;
}

const labels: Readonly<Record<string, string>> = {
  version: 'Version',
  environment_id: 'Environment',
  operation: 'Operation',
  message: 'Message',
  confirmation: 'Confirmation',
  only: 'Nodes',
};

function renderForm(form: StartForm): Html {
  const { facts, entry, problems, address } = form;
  const placed = placeProblems(facts.root, { kind: 'object', members: entry.members, rows: [] }, variablesIn(problems));
  const entered = secretsIn(facts.root, entry);
  const action = address.replace(/#.*$/, '');
  return html`<form class="form run-form" method="post" action="${action}" novalidate data-edited>
<button class="unseen" type="submit" tabindex="-1" aria-hidden="true">Run</button>
<input type="hidden" name="key" value="${form.key}">
<input type="hidden" name="carried" value="${form.carried}">
<input type="hidden" name="shown" value="${facts.version?.version ?? ''}">
${problems ? renderProblems(form, placed) : null}${form.isToConfirm ? renderUnconfirmed(facts.replaced ? null : html`Check the instances that it takes over, then confirm it at the end of the form.`) : null}
${renderNodeInstances(facts.instances, form.basic.operation === 'destroy')}
<section class="panel form-part" aria-labelledby="what"><h2 id="what">What and where</h2>
<div class="form-pairs">${targetFields(form).map((field) => renderFormField(field, problems?.fields[field.name]))}</div>
<button class="button button-small" type="submit" name="do" value="${writeEdit('show', '')}" formaction="${action}#variables" data-edit data-edit-for="version operation">Show the fields of this version</button>
${renderNodes(form)}</section>
<section class="panel form-part" aria-labelledby="variables"><h2 id="variables">Variables</h2>
${
  facts.root.members.length === 0
    ? html`<p class="muted">It has no variables.</p>`
    : renderMembers(facts.root, entry.members, {
        action,
        problems: placed.bySlot,
        inherited: new Map(),
        comparisons: compareFields(form),
        entered,
      })
}</section>
<section class="panel form-part" aria-labelledby="why"><h2 id="why">Why</h2>${whyFields(form).map((field) => renderFormField(field, problems?.fields[field.name]))}</section>
${renderDifferences(form)}
<div class="form-end"><button class="button button-primary" type="submit">${renderIcon('play')}${form.isToConfirm ? 'Confirm and run' : 'Run'}</button>${renderCancel(assemblyPath(facts.assembly))}
<p class="muted">Each node plans before it applies. Changes that need approval wait for their reviewers.</p></div>
</form>`;
}

/** The fields for the message and, before a destroy, for its confirmation. */
function whyFields({ facts, basic }: StartForm): FormField[] {
  const message = messageField(basic.message);
  if (basic.operation !== 'destroy') return [message];
  return [message, { ...typedNameField(facts.assembly.name), value: basic.confirmation ?? '' }];
}

/** The fields for the version, the operation and the environment. */
export function targetFields({ facts, basic }: Pick<StartForm, 'facts' | 'basic'>): FormField[] {
  const { assembly, versions, version, environments, hasMoreVersions } = facts;
  const shown = version?.version ?? '';
  const names = [...new Set([...(shown === '' ? [] : [shown]), ...versions])];
  return [
    {
      name: 'version',
      label: 'Version',
      kind: 'select',
      value: basic.version ?? '',
      isCut: hasMoreVersions,
      choiceKinds: [],
      choices: [
        { value: '', label: `Latest (${assembly.latest_version ?? 'none'})` },
        ...names.map((name) => ({ value: name, label: name })),
      ],
    },
    {
      name: 'operation',
      label: 'Operation',
      kind: 'select',
      value: basic.operation ?? 'apply',
      choices: Object.entries(operationLabels).map(([value, label]) => ({ value, label })),
      hint: 'A destroy removes what was deployed in the environment, whichever version deployed it.',
    },
    {
      ...environmentField(environments),
      value: basic.environment_id ?? '',
      hint: 'All nodes deploy there, with its variables and its approval policy.',
    },
  ];
}

/** A choice of nodes. If some are chosen, only these run, and the recorded outputs of the others are used. */
function renderNodes({ facts, only, problems }: StartForm): Html {
  const chosen = new Set(only);
  const problem = problems?.fields['only'];
  return html`<details class="fold" id="${fieldId('only')}" ${chosen.size > 0 || problem ? html`open` : null}><summary>Run only some of its ${facts.nodes.length} nodes</summary>
<fieldset class="choices node-choices"><legend>Select the nodes to run; leave all empty to run every node. The others keep what they deployed, and their recorded outputs are used.</legend>
${facts.nodes.map(
  (key) =>
    html`<label class="choice"><input type="checkbox" name="only" value="${key}" ${chosen.has(key) ? html`checked` : null}> <span class="foreign mono">${key}</span></label>`,
)}</fieldset>${problem ? html`<p class="field-problem">${problem}</p>` : null}</details>`;
}

/** The problems, with links to their fields. They have the focus when the page opens. */
function renderProblems(form: StartForm, placed: PlacedProblems): Html {
  const { facts, entry, problems } = form;
  const basics = Object.entries(problems?.fields ?? {}).map(([name, message]) => ({
    target: fieldId(name),
    label: labels[name] ?? name,
    message,
  }));
  const listed = [...basics, ...placed.listed];
  return html`<div class="notice notice-problem" role="alert" tabindex="-1" data-focus>${renderIcon('octagon-x')}<div>
${[...(problems?.others ?? []), ...placed.others].map((text) => html`<p class="foreign">${text}</p>`)}
${listed.length > 0 ? html`<ul class="plain-list">${listed.map(({ target, label, message }) => html`<li class="foreign"><a href="#${target}">${label}</a>: ${message}</li>`)}</ul>` : null}
${secretsIn(facts.root, entry).size > 0 ? html`<p>The secrets that you entered are kept, but not shown.</p>` : null}</div></div>`;
}
