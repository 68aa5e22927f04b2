import { z } from 'zod';
import { read } from '#api/pipeline/operation.ts';
import { AnswerId } from '#api/pipeline/schemas.ts';
import { AssemblyEvaluator } from '#domain/assemblies/evaluation/assembly-evaluator.ts';
import { nodeStatuses } from '#domain/assemblies/model.ts';
import { type AssemblyNodeDetails, readNodes } from '#domain/assemblies/runs/store.ts';
import { findReadableAssemblyRun } from '#domain/assemblies/runs/targets.ts';
import { limitSubjectOfCaller } from '#domain/shared/tasks/limit-subject.ts';
import { nestedReadAccess } from '../access.ts';
import { AssemblyRunParams } from '../run-operations.ts';
import { drawRun } from './run-graph.ts';
import { answerPicture, svg } from './svg-graph.ts';

const RunGraphView = z
  .object({
    nodes: z.array(z.object({ key: z.string(), status: z.enum(nodeStatuses), run_id: AnswerId.nullable() })),
    edges: z.array(z.object({ from: z.string(), to: z.string().describe('The node that waits for the other.') })),
  })
  .meta({ id: 'AssemblyRunGraph' });

function toGraphView(nodes: readonly AssemblyNodeDetails[]): z.input<typeof RunGraphView> {
  return {
    nodes: nodes.map(({ key, status, runId }) => ({ key, status, run_id: runId })),
    edges: nodes.flatMap(({ key: to, dependencies }) => dependencies.map((from) => ({ from, to }))),
  };
}

export const getRunGraph = read({
  id: 'assemblies.get_run_graph',
  route: 'GET /api/v1/assemblies/:id/runs/:runID/graph',
  summary: 'Read the graph of an assembly run with the statuses of its nodes, or its drawing',
  description:
    'In the drawing, statuses are words and classes of the nodes. Of a large graph, the drawing shows the nodes that most need attention with their neighbours, ' +
    'and many nodes of the same place as one that counts their states.',
  params: AssemblyRunParams,
  responses: { 200: RunGraphView },
  produces: { [svg]: 'The graph as SVG without scripts, styles and foreign content.' },
  access: nestedReadAccess,
  target: ({ em, params }) => findReadableAssemblyRun(em, { assemblyId: params.id, runId: params.runID }),
  targetName: 'assembly run',
  handle: async ({ em, target, principal, services, request }) => {
    if (request.mediaType !== svg) return toGraphView(await readNodes(em, target.run.id));
    const evaluator = new AssemblyEvaluator(services.evaluator, limitSubjectOfCaller(principal));
    return answerPicture(await drawRun(evaluator, em, target.run.id));
  },
});
