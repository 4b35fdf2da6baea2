import { processWide } from '../environment/process-wide.ts'

/** The settings of a development server for the servers in its process. */
export interface InspectorRequest {
  /** The token, the same for every version of the application, so that an open page keeps working. */
  readonly token: string
  /** The port of the page that shows the work of this process, if that is the page of another one. */
  readonly port?: string
  /** What the process runs: the name of the command. */
  readonly runs?: string
}

/** The settings, which exist only under `framework serve`, and for commands beside it. */
export const { get: inspectorRequest, set: requestInspector } = processWide<InspectorRequest>('inspector')
