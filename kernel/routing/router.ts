import { RouteCollection } from './collection.ts'

/**
 * The collection of the whole process: routes registered here are served by every server that was not given its own.
 *
 * @example
 * router.get('/hello/:name', (req) => ({ hello: req.params.name }))
 */
export const router: RouteCollection = new RouteCollection()
