import { z } from 'zod';
import { read } from '#api/pipeline/operation.ts';
import { AuthorEvaluation } from '#domain/assemblies/evaluation/author.ts';
import { findAssemblyRun } from '#domain/assemblies/runs/targets.ts';
import { nestedReadAccess } from '../access.ts';
import { AssemblyRunParams } from '../run-operations.ts';
import { drawRun } from './run-graph.ts';
import { answerPicture, svg } from './svg-graph.ts';

export const getRunGraph = read({
  id: 'assemblies.get_run_graph',
  route: 'GET /api/v1/assemblies/:id/runs/:runID/graph',
  summary: 'Draw the nodes of an assembly run with their statuses',
  description:
    'Statuses are words and classes of the nodes. Of a large graph, it shows the nodes that most need attention with their neighbours, ' +
    'and many nodes of the same place as one that counts their states.',
  params: AssemblyRunParams,
  responses: { 200: z.never() },
  produces: { [svg]: 'The graph as SVG without scripts, styles and foreign content.' },
  access: nestedReadAccess,
  target: ({ em, params }) => findAssemblyRun(em, { assemblyId: params.id, runId: params.runID }, false),
  targetName: 'assembly run',
  handle: async ({ em, target, principal, services }) => {
    const author = new AuthorEvaluation(services.evaluator, principal.id);
    return answerPicture(await drawRun(author, em, target.run.id));
  },
});
