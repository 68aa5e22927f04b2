/** The input of the workflow of an assembly run. Ids only, because histories must not contain secrets. */
export interface AssemblyRunInput {
  readonly assembly_run_id: string;
}
