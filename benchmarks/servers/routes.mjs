// What every server answers, so that all of them do the same work. Plain JavaScript: the servers run without a loader,
// because a loader would be most of what the boot suite measures.

export const port = Number(process.env.PORT)
export const scenario = process.argv[2] ?? 'hello'

export const hello = () => ({ hello: 'world' })
/** @param {string} id */
export const user = (id) => ({ id, name: 'Ada Lovelace', admin: false })
/** @param {{ id: number, lines: { price: number, quantity: number }[] }} order */
export const receipt = (order) => ({
  id: order.id,
  lines: order.lines.length,
  total: order.lines.reduce((sum, line) => sum + line.price * line.quantity, 0),
})
