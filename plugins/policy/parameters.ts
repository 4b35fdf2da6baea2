/** Strings, templates and comments: the brackets and commas in them are not syntax. */
const opaque = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`|\/\/[^\n]*|\/\*.*?\*\//gs

/**
 * How many parameters a function declares, including those that have a default, and counting a rest parameter as one.
 *
 * `length` stops before the first of these: for `(user = guest, post, comment) => …` it is 0. A function without a
 * source, such as a bound one, has only its `length`.
 */
export function parametersOf(fn: Function): number {
  const source = Function.prototype.toString.call(fn).replace(opaque, (text) => (text.startsWith('/') ? ' ' : '0'))
  if (/^(?:async\s+)?[\p{ID_Start}$_][\p{ID_Continue}$]*\s*=>/u.test(source)) return 1
  return Math.max(fn.length, declaredIn(source))
}

/** Counts the parameters in the first parentheses that do not belong to a computed name. */
function declaredIn(source: string): number {
  let depth = 0
  let list: string | undefined
  for (const char of source) {
    if ('([{'.includes(char)) depth++
    else if (')]}'.includes(char)) depth--
    if (list === undefined) list = char === '(' && depth === 1 ? '' : undefined
    else if (depth === 0) return list.split(',').filter((one) => one.trim() !== '').length
    else list += depth === 1 ? char : '_'
  }
  return 0
}
