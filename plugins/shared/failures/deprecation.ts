/** Makes a function that reports, once per process, that a form is deprecated and what replaces it. */
export function deprecation(code: `FRAMEWORK_DEP${number}`, sentence: string): () => void {
  let isReported = false
  return () => {
    if (isReported) return
    isReported = true
    process.emitWarning(sentence, { type: 'DeprecationWarning', code })
  }
}
