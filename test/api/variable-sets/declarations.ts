import { newId } from '#domain/shared/ids.ts';
import { addNamed } from '#test/support/api/add-named.ts';
import type { AreaDeclarations } from '#test/support/areas/declaration.ts';

export const access = `
variable_sets.list                  environment:read                    owned:metadata.read
variable_sets.create                secret:manage                       owned:metadata.write
variable_sets.get                   environment:read                    owned:metadata.read
variable_sets.update                secret:manage                       owned:metadata.write
variable_sets.delete                secret:manage                       owned:metadata.write
variable_set_variables.list         environment:read                    owned:metadata.read
variable_set_variables.get          environment:read                    owned:metadata.read
variable_set_variables.set          secret:manage                       owned:metadata.write
variable_set_variables.replace      secret:manage                       owned:metadata.write
variable_set_variables.remove       secret:manage                       owned:metadata.write
variable_set_attachments.get        environment:read                    owned:metadata.read
variable_set_attachments.replace    secret:manage                       owned:metadata.write
`;

export const forAdministrators = [
  'variable_sets.create',
  'variable_sets.delete',
  'variable_sets.update',
  'variable_set_variables.remove',
  'variable_set_variables.replace',
  'variable_set_variables.set',
  'variable_set_attachments.replace',
];

export const resources = {
  variableSet: {
    namedBy: ['variable_sets', 'variable_set_variables', 'variable_set_attachments'],
    reviewed: 'variable_sets',
    add: (_api, root, { team, environment }) =>
      addNamed(root, '/variable-sets', { name: `Common ${environment}`, team_id: team }),
  },
} satisfies AreaDeclarations['resources'];

export const bodies: AreaDeclarations['bodies'] = {
  'variable_sets.create': ({ team }) => ({ name: 'Shared', team_id: team }),
  'variable_sets.update': () => ({ name: 'Renamed' }),
  'variable_set_variables.set': () => ({ value: 'eu', category: 'template' }),
  'variable_set_variables.replace': () => ({ variables: [{ name: 'REGION', value: 'eu', category: 'template' }] }),
  'variable_set_attachments.replace': ({ environment }) => ({ project_ids: [], environment_ids: [environment] }),
};

const secretVariable = () => ({ value: `secret-of-set-${newId()}`, category: 'template', sensitive: true });

export const setups: AreaDeclarations['setups'] = {
  'variable_set_variables.set': async () => ({ body: secretVariable() }),
  'variable_set_variables.remove': async ({ root }, { variableSet }) => {
    await root.caller.send('PUT', `/variable-sets/${variableSet}/variables/REGION`, secretVariable());
    return {};
  },
};

export const answers: AreaDeclarations['answers'] = {
  'variable_sets.create': [201, '/api/v1/variable-sets/:id'],
  'variable_sets.update': [200, '/api/v1/variable-sets/:id'],
  'variable_sets.delete': [204],
  'variable_set_variables.set': [200],
  'variable_set_variables.replace': [200],
  'variable_set_variables.remove': [204],
  'variable_set_attachments.replace': [200],
};

/** It has no variable. */
export const otherwise: AreaDeclarations['otherwise'] = { 'variable_set_variables.get': 404 };

export const namedOwners: AreaDeclarations['namedOwners'] = (['team', 'organization', 'project'] as const).map(
  (owner) => ({
    operation: 'variable_sets.create',
    field: `${owner}_id`,
    status: 404,
    names: owner,
    send: (_ids, id) => ['/variable-sets', { name: 'Shared', [`${owner}_id`]: id }],
  }),
);
