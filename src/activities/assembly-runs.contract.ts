import type { NextAssemblyStep } from '#domain/assemblies/model.ts';

/** The steps of assembly runs. They run as local activities of the workflow. */
export interface AssemblyRunActivities {
  /** Takes the next step, admits the runs of ready nodes, and returns what to wait for. */
  advanceAssemblyRun(request: {
    assemblyRunId: string;
    workflowId: string;
    canceled: boolean;
  }): Promise<NextAssemblyStep>;
}
