import { renderIcon } from '#api/web/components/icon.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderEmpty } from '#api/web/components/table.ts';
import { fieldId, renderCancel, renderFormField } from '#api/web/forms/form.ts';
import { type PlacedProblems, placeProblems } from '#api/web/forms/schema/places.ts';
import { secretsIn } from '#api/web/forms/schema/secrets.ts';
import { renderVariableFields } from '#api/web/forms/schema/view/variables.ts';
import { type Html, html } from '#api/web/html.ts';
import type { Page } from '#api/web/layout.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { pluralize } from '#api/web/text.ts';
import { renderUnfit } from '../version/fit-view.ts';
import { advancedParts, basicLabels, basicParts, renderTarget, usesAdvanced } from './basic-fields.ts';
import {
  compareFields,
  findRequirementNotes,
  renderDeployedNotice,
  renderDifferences,
  renderUnconfirmed,
} from './deployed-view.ts';
import { nameOfTarget, type RunFacts, runsDeployedVersion } from './facts.ts';
import { renderNoEnvironment, renderNotDeployed, renderUnfinished } from './notices.ts';
import { type RunForm, variablesIn } from './run-form.ts';
import { describeKept, renderSecretChoices } from './variable-fields.ts';

/** @param operation the chosen operation: a destroy is not called a deployment */
export function headOf({ template: { id, name }, source, deployed, notDeployed }: RunFacts, operation?: string) {
  const verb = operation === 'destroy' ? 'Destroy' : 'Deploy';
  return {
    title:
      deployed || notDeployed?.last
        ? `${verb} ${(deployed ?? notDeployed)?.instance?.name}`
        : source
          ? `Run ${name} again`
          : `Run ${name}`,
    crumbs: [
      { label: 'Catalog', path: pagePath(pages.catalog) },
      { label: name, path: pagePath(pages.template, { id }) },
    ],
  };
}

export function runPage(form: RunForm): Page {
  const { facts, problems } = form;
  const { template } = facts;
  const head = headOf(facts, form.basic.operation);
  return {
    title: form.isToConfirm ? `Confirm: ${head.title}` : head.title,
    hasProblem: problems !== null,
    scripts: ['schema-form.js'],
    main: html`<div class="page">
${renderPageHead({
  ...head,
  below: template.description ? html`<span class="foreign">${template.description}</span>` : null,
})}
${renderSource(facts)}${renderDeployedNotice(facts, form.isSent)}${renderOccupied(facts)}${renderUnfinished(facts.unfinished)}${renderUnfit(facts.fit)}
${facts.version ? renderForm(form) : renderEmpty('No version published yet', 'You can run a template once it has a published version.')}
</div>`,
  };
}

function renderSource({ source, notDeployed, occupied, undone }: RunFacts): Html | null {
  if (notDeployed) return occupied ? null : renderNotDeployed(notDeployed, undone);
  if (!source) return null;
  return html`<div class="notice">${renderIcon('info')}<div><p>Filled in from <a href="${pagePath(pages.run, { id: source.id })}">an earlier run of <span class="foreign">${source.instance}</span></a>. Nothing starts until you submit it.</p></div></div>`;
}

function renderForm(form: RunForm): Html {
  const { facts, basic, entry, problems, address } = form;
  const whole = { kind: 'object', members: entry.members, rows: [] } as const;
  const placed = placeProblems(facts.root, whole, variablesIn(problems));
  const entered = secretsIn(facts.root, entry);
  const action = address.replace(/#.*$/, '');
  const requirementNotes = findRequirementNotes(form);
  return html`<form class="form run-form" method="post" action="${action}" novalidate autocomplete="off" data-edited>
<button class="unseen" type="submit" tabindex="-1" aria-hidden="true">Run</button>
<input type="hidden" name="key" value="${basic.key}">
<input type="hidden" name="carried" value="${form.carried}">
<input type="hidden" name="shown" value="${facts.version?.version ?? ''}">
${problems ? renderProblems(form, placed) : null}${form.isToConfirm ? renderStep(form) : null}
<section class="panel form-part" aria-labelledby="what"><h2 id="what">Target</h2>${renderTarget(form)}
${form.isToConfirm ? null : renderNoEnvironment(facts)}</section>
<section class="panel form-part" aria-labelledby="variables"><h2 id="variables">Variables</h2>
${renderVariableFields({ root: facts.root, entry, action, problems: placed.bySlot, inherited: describeKept(form, requirementNotes), requirementNotes, comparisons: compareFields(form), entered })}
${renderSecretChoices(form)}</section>
<section class="panel form-part" aria-labelledby="why"><h2 id="why">Why</h2>
${basicParts(form).map((field) => renderFormField(field, problems?.fields[field.name]))}</section>
${renderAdvanced(form)}
${renderDifferences(form)}
${facts.occupied ? html`<input type="hidden" name="compared" value="${facts.occupied.id}">` : null}
<div class="form-end">${renderSubmit(form)}${renderCancel(pagePath(pages.template, { id: facts.template.id }))}
<p class="muted">A plan is made first. Changes that need approval wait for their reviewers.</p></div>
</form>`;
}

function renderSubmit({ basic, isToConfirm }: RunForm): Html {
  if (basic.operation === 'destroy')
    return html`<button class="button button-danger" type="submit">${renderIcon('trash-2')}Destroy</button>`;
  return html`<button class="button button-primary" type="submit">${renderIcon('play')}${isToConfirm ? 'Confirm and run' : 'Run'}</button>`;
}

function renderStep({ facts, basic }: RunForm): Html {
  const step =
    basic.operation === 'destroy'
      ? renderDestroyStep(facts, basic)
      : facts.occupied &&
        html`Check the version and the variables against what <span class="foreign">${facts.occupied.name}</span> holds, then confirm at the end of the form.`;
  return renderUnconfirmed(step, renderNoEnvironment(facts));
}

/** Warns of an instance whose resources no known run has deployed: the form cannot start from them, and its values may destroy some. */
function renderOccupied({ occupied, source }: RunFacts): Html | null {
  if (!occupied) return null;
  const { id, name, resourceCount } = occupied;
  const link = html`<a class="foreign" href="${pagePath(pages.instance, { id })}">${name}</a>`;
  const shown = source ? '' : ', so this form shows the defaults of the template';
  return html`<div class="notice notice-wait">${renderIcon('triangle-alert')}<p>${link} exists there already and holds ${pluralize(resourceCount, 'resource')}. No run of this service is known that deployed them, as after an import${shown}. A run changes or destroys what differs from its version and variables.</p></div>`;
}

function renderDestroyStep(facts: RunFacts, basic: RunForm['basic']): Html {
  const baseline = facts.deployed ?? facts.replaced;
  const name = html`<span class="foreign">${nameOfTarget(facts, basic)}</span>`;
  const deployed = runsDeployedVersion(facts, basic) ? baseline?.run.template_version : undefined;
  const version = deployed ?? facts.version?.version;
  const count = baseline?.instance.resourceCount ?? 0;
  // Resources of commands are not counted.
  const held = count > 0 ? html`all ${pluralize(count, 'resource')} of ${name}` : html`everything that ${name} holds`;
  return html`The run destroys ${held}, with version ${version}. <a href="#${fieldId('confirmation')}">Type its name</a>, then confirm.`;
}

/** The advanced fields. They are closed unless one of them is used. */
function renderAdvanced(form: RunForm): Html | null {
  const fields = advancedParts(form);
  if (fields.length === 0) return null;
  return html`<details class="fold" ${usesAdvanced(form) ? html`open` : null}><summary>Advanced: single resources, refresh, parallelism, debug log</summary>
${fields.map((field) => renderFormField(field, form.problems?.fields[field.name]))}</details>`;
}

/** The problems, with links to their fields. They have the focus when the page opens. */
function renderProblems(form: RunForm, placed: PlacedProblems): Html {
  const { entry, problems } = form;
  const basics = Object.entries(problems?.fields ?? {}).map(([name, message]) => ({
    target: fieldId(name),
    label: basicLabels[name as keyof typeof basicLabels] ?? name,
    message,
  }));
  const listed = [...basics, ...(entry.json === null ? placed.listed : [])];
  const asText = entry.json === null ? [] : placed.listed.map(({ label, message }) => `${label}: ${message}`);
  return html`<div class="notice notice-problem" role="alert" tabindex="-1" data-focus>${renderIcon('octagon-x')}<div>
${[...(problems?.others ?? []), ...placed.others, ...asText].map((text) => html`<p class="foreign">${text}</p>`)}
${listed.length > 0 ? html`<ul class="plain-list">${listed.map(({ target, label, message }) => html`<li class="foreign"><a href="#${target}">${label}</a>: ${message}</li>`)}</ul>` : null}
${secretsIn(form.facts.root, entry).size > 0 ? html`<p>The secrets that you entered are kept, but not shown.</p>` : null}</div></div>`;
}
