/** The settings of a development server for the servers in its process. */
export interface InspectorRequest {
  /** The token, the same for every version of the application, so that an open page keeps working. */
  readonly token: string
}

// A development server sets it before it loads the application, which may have another copy of this package.
const mark = Symbol.for('framework.inspector')

export function requestInspector(request: InspectorRequest): void {
  Object.assign(globalThis, { [mark]: request })
}

/** The settings, which exist only under `framework serve`. */
export function inspectorRequest(): InspectorRequest | undefined {
  return (globalThis as { readonly [mark]?: InspectorRequest })[mark]
}
