import { read } from '#api/pipeline/operation.ts';
import { readSource } from '#domain/registry/publication/publication.ts';
import { proposeSpec } from '#domain/registry/spec-proposal.ts';
import { findTeamOrInstallation } from '#domain/teams/store.ts';
import { ProposeSpec } from './bodies.ts';
import { writeAccess } from './template-operations.ts';
import { ProposalView } from './views.ts';

export const propose = read({
  id: 'templates.propose_spec',
  route: 'POST /api/v1/registry/spec-proposals',
  summary: 'Propose a spec from the variables and outputs of a module, without running or storing anything',
  body: ProposeSpec,
  responses: { 200: ProposalView },
  access: { ...writeAccess, review: { inherits: 'templates.create' } },
  target: ({ em, body }) => findTeamOrInstallation(em, body.team_id),
  targetName: 'team',
  handle: async ({ em, principal, target, body, services }) => {
    const { team_id: _team, tool: wanted, ...source } = body;
    const executor = { kind: 'opentofu' as const, ...source };
    const { keyRing, config } = services;
    const { files } = await readSource(
      { executor },
      { em, keyRing, policy: config.outbound, principal, owner: target },
      'git',
    );
    const { tool, variables, outputs, readme, notes } = proposeSpec(files, source.git?.path, wanted);
    const spec = { variables, outputs, executor, ...(wanted && { tool: wanted }) };
    return { spec, tool, readme, notes: [...notes] };
  },
});
