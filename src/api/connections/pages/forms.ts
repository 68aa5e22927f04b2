import { ownerOrInstallation } from '#api/tenancy/pages/owner-choice.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import { formPage } from '#api/web/forms/form-page.ts';
import { type KindChoice, offerKinds } from '#api/web/forms/kind-choice.ts';
import { revisionField, toBody } from '#api/web/forms/resource-forms.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { findSettingsProblems } from '#domain/connections/check.ts';
import { kindOf } from '#domain/connections/kinds/kinds.ts';
import { Invalid } from '#domain/shared/errors.ts';
import { create, remove, rotate, update } from '../operations.ts';
import { renderBoundPlaces } from './bound-places.ts';
import { connectionForm, connectionPath, connectionsCrumb, type ShownConnection } from './labels.ts';
import { credentialsPart, settingsPart, toSettings } from './settings-schema.ts';
import { type Variant, variantOf, variants } from './variants.ts';

/** The possible owners of a new connection. */
export const connectionOwners = ownerOrInstallation(create, {
  hint: 'The connection can be bound in environments of its owner. The owner cannot be changed later.',
  installation: 'Installation',
});

function nameField(name?: string): FormField {
  return { name: 'name', label: 'Name', hint: 'Such as aws-production.', value: name };
}

/** @throws Invalid for a choice that does not exist */
function chosenVariant(visit: Visit): Variant {
  const of = visit.query('of') ?? 'generic';
  const found = Object.hasOwn(variants, of) ? variants[of] : undefined;
  if (found === undefined) throw new Invalid(`of: expected one of ${Object.keys(variants).join(', ')}`);
  return found;
}

const newForm = formPage(pages.newConnection, {
  read: async (visit) => chosenVariant(visit),
  describe: async (variant, visit) => ({
    title: 'New connection',
    crumbs: [connectionsCrumb],
    kinds: variantChoice(variant, visit),
    fields: [await connectionOwners.field(visit), nameField()],
    schema: settingsPart(variant),
    submit: 'Create connection',
    cancel: pagePath(pages.connections),
    refusal: (await connectionOwners.mayCreate(visit)).reason,
  }),
  carryOut: async (variant, typed, visit, read) => {
    const owner = await connectionOwners.toBody(visit, typed);
    const settings = { kind: variant.kind, ...toSettings(variant, read) };
    visit.problems.push(...findSettingsProblems(settings));
    const body = { name: typed['name'], ...settings, ...owner };
    return connectionPath(await visit.run(create, { body }), 'created');
  },
});

function variantChoice(chosen: Variant, visit: Visit): KindChoice {
  const labels = Object.fromEntries(Object.entries(variants).map(([of, { label }]) => [of, label]));
  const [of = ''] = Object.entries(variants).find(([, variant]) => variant === chosen) ?? [];
  return {
    label: 'Kind',
    kinds: offerKinds(visit, { page: pages.newConnection, labels, chosen: of }),
    about: kindOf(chosen.kind).summary,
  };
}

const renameForm = connectionForm(pages.renameConnection, 'update', {
  describe: (connection) => ({
    title: `Rename ${connection.name}`,
    lead: 'Templates with a git source use the new name when a version is published. Bindings are not affected.',
    fields: [nameField(connection.name), revisionField(connection)],
    submit: 'Save changes',
  }),
  carryOut: async ({ id }, typed, visit) => {
    await visit.run(update, { params: { id }, body: toBody(typed) });
    return connectionPath({ id }, 'saved');
  },
});

const configureForm = connectionForm(pages.configureConnection, 'update', {
  describe: (connection) => ({
    title: `Change the settings of ${connection.name}`,
    lead: 'Enter the credentials again, so that the stored ones cannot be sent to another host. Runs that are already planned do not apply with new settings: run them again.',
    fields: [revisionField(connection)],
    schema: settingsPart(variantOf(connection), connection.config),
    submit: 'Save settings',
  }),
  carryOut: async (connection, _typed, visit, read) => {
    const { id } = connection;
    await visit.run(update, { params: { id }, body: toSettings(variantOf(connection), read) });
    return connectionPath({ id }, 'saved');
  },
});

const rotateForm = connectionForm(pages.rotateConnection, 'rotate', {
  describe: (connection) => ({
    title: `Rotate the credentials of ${connection.name}`,
    lead: html`<p>Phases of runs that start from now on get the new credentials. Phases that are running keep the old ones until they finish, so revoke those afterwards.</p>${renderReplacedNames(connection)}`,
    fields: [revisionField(connection)],
    schema: credentialsPart(variantOf(connection)),
    submit: 'Replace credentials',
  }),
  carryOut: async (connection, _typed, visit, read) => {
    const { id } = connection;
    const { credentials } = toSettings(variantOf(connection), read);
    await visit.run(rotate, { params: { id }, body: { credentials } });
    return connectionPath({ id }, 'rotated');
  },
});

/**
 * Says which names are replaced. Only the kind `generic` asks for names again at a rotation. Runs no longer get a name that is left out.
 */
function renderReplacedNames({ kind, provides }: ShownConnection): Html | null {
  if (kind !== 'generic') return null;
  return html`<p>It has these variables and files now: <span class="mono foreign">${provides.join(', ')}</span>. The new ones replace all of them: a name that you leave out is removed.</p>`;
}

const deleteForm = connectionForm(pages.deleteConnection, 'delete', {
  describe: async (connection, visit) => ({
    title: `Delete ${connection.name}`,
    lead: html`<p>Its credentials and bindings are deleted permanently. Runs of templates that need it are refused until another connection is bound.</p>
<div>Bound by: ${await renderBoundPlaces(visit, connection)}</div>`,
    submit: 'Delete connection',
    tone: 'danger',
  }),
  carryOut: async ({ id }, _typed, visit) => {
    await visit.run(remove, { params: { id } });
    return pagePath(pages.connections, {}, { done: 'deleted' });
  },
});

/** The forms that make, change and delete connections. */
export const connectionForms = [newForm, renameForm, configureForm, rotateForm, deleteForm];
