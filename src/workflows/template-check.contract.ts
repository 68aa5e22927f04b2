/** The input of the workflow of a check. Ids only, because histories must not contain secrets or files. */
export interface TemplateCheckInput {
  readonly check_id: string;
}
