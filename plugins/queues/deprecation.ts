let told = false

/** Tells once in a process that the form is deprecated, and what takes its place. */
export function deprecateSubscribe(): void {
  if (told) return
  told = true
  process.emitWarning('@queue.subscribe() is deprecated; write @queue.subscribeMethod()', {
    type: 'DeprecationWarning',
    code: 'FRAMEWORK_DEP0003',
  })
}
