/** What a development server asks of the servers in its process. */
export interface InspectorRequest {
  /** The same for every version of the application, so that a page that is open goes on. */
  readonly token: string
}

// A development server brings it before it loads the application, which may have another copy of this package.
const mark = Symbol.for('framework.inspector')

export function requestInspector(request: InspectorRequest): void {
  Object.assign(globalThis, { [mark]: request })
}

/** There is one under `framework serve`, and nowhere else. */
export function inspectorRequest(): InspectorRequest | undefined {
  return (globalThis as { readonly [mark]?: InspectorRequest })[mark]
}
