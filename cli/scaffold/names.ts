import { quoted, wrongUsage } from '../failure.ts'
import { json, text } from '../sdk/printer.ts'

/** One name in each of its spellings. */
export interface Names {
  /** `order-items`: files, commands, paths. */
  readonly kebab: string
  /** `orderItems`: variables and functions. */
  readonly camel: string
  /** `OrderItems`: classes and types. */
  readonly pascal: string
}

/**
 * Reads the name of a generated thing: `order-items`, `orderItems`, `OrderItems` and `order_items` are the same, and so is
 * `OrderItemsController` where a controller is generated.
 *
 * @throws CommandFailure for an invalid name of a file or of an identifier on any system.
 */
export function namesOf(typed: string, kind: string): Names {
  const refuse = (why: string) => {
    throw wrongUsage(`${quoted(typed)} cannot be the name of a ${kind}: ${why}`)
  }
  if (/[/\\]/.test(typed)) refuse('it is a path; the folder is fixed')
  if (typed.length > 80) refuse('it has more than 80 characters')
  // Only ASCII: Unicode names are composed on one system and decomposed on another, and a third does not find the file.
  if (!/^[A-Za-z][A-Za-z0-9_-]*$/.test(typed)) refuse('it takes letters, digits, - and _, a letter first')
  const all = wordsOf(typed)
  const words = all.length > 1 && all.at(-1) === kind ? all.slice(0, -1) : all
  const pascal = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
  const camel = pascal.charAt(0).toLowerCase() + pascal.slice(1)
  const kebab = words.join('-')
  if (reserved.has(camel)) refuse('it is a reserved word of JavaScript')
  if (devices.test(kebab)) refuse('Windows does not allow a file of that name')
  return { kebab, camel, pascal }
}

/** Words that cannot name a variable in a module, and members that every object has. */
const reserved = new Set(
  `arguments await break case catch class const constructor continue debugger default delete do else enum eval export
  extends false finally for function if implements import in instanceof interface let new null package private
  protected prototype public return static super switch this throw true try typeof undefined var void while with
  yield any never unknown object string number boolean symbol bigint`.split(/\s+/),
)

const devices = /^(con|prn|aux|nul|com\d|lpt\d)$/

/** `order-items`, `orderItems`, `OrderItems` and `order_items` are the words order and items. */
export function wordsOf(name: string): string[] {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, '$1-$2')
    .toLowerCase()
    .split(/[-_]+/)
    .filter((word) => word !== '')
}

/** Names that templates import or declare, and names of tests: nothing that the user names may have one of them. */
const taken = new Set(
  `add assert attempt clock constructor cron ctx definePlugin error exceed failures first handle received id item items jobs keep
  later logger mailer memory message mqtt next option options order outbox process provider query queue record req res
  result router routes run second server service services signal stop storage subscription test testPlugin topic undefined`.split(
    /\s+/,
  ),
)

/** The identifier for a user's name; with its kind as a suffix where a template has the same name. */
export function identifier(camel: string, kind: string): string {
  return taken.has(camel) ? identifier(`${camel}${kind}`, kind) : camel
}

/** A string as a TypeScript literal, in the quotes that formatters leave: single quotes, unless they need more escapes. */
export function literal(value: string): string {
  const [singles, doubles] = ["'", '"'].map((quote) => value.split(quote).length) as [number, number]
  return singles > doubles ? json(value) : text(value)
}
