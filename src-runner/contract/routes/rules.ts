import { z } from 'zod'
import { Id, NextCursor, PageQuery } from '../primitives.ts'
import { CreateRule, Rule, SimulateCall, SimulatedCall, ToolInfo } from '../rules.ts'
import { Nothing, routeTable } from './route.ts'

export const ruleRoutes = routeTable({
  listRules: {
    method: 'GET',
    path: '/api/rules',
    gate: 'runner',
    summary: 'All rules, newest first. With `agentId`: those that hold for this agent, the rules for everyone included.',
    query: PageQuery.extend({ agentId: Id.optional() }),
    status: 200,
    answer: z.object({ rules: z.array(Rule), nextCursor: NextCursor }),
    errors: ['invalid_request'],
    shows: ['rules'],
  },
  createRule: {
    method: 'POST',
    path: '/api/rules',
    gate: 'runner',
    summary: 'Write a rule. One that says the same as an existing rule answers that one.',
    body: CreateRule,
    status: 201,
    answer: z.object({ rule: Rule }),
    errors: ['invalid_request', 'agent_not_found', 'disk_full'],
  },
  deleteRule: {
    method: 'DELETE',
    path: '/api/rules/:ruleId',
    gate: 'runner',
    summary: 'Remove a rule.',
    params: z.object({ ruleId: Id }),
    status: 200,
    answer: Nothing,
    errors: ['invalid_request', 'rule_not_found'],
  },
  simulateCall: {
    method: 'POST',
    path: '/api/rules/simulate',
    gate: 'runner',
    summary: 'Would this call run, be asked or be refused? The same decision as for a real call; nothing runs.',
    body: SimulateCall,
    status: 200,
    answer: SimulatedCall,
    errors: ['invalid_request', 'tool_not_found', 'agent_not_found', 'job_not_found'],
  },
  listTools: {
    method: 'GET',
    path: '/api/tools',
    gate: 'runner',
    summary: 'The tools that agents have.',
    status: 200,
    answer: z.object({ tools: z.array(ToolInfo) }),
    errors: [],
  },
})
