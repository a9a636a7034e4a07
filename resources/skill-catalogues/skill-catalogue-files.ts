import anthropic from './anthropic.json' with { type: 'json' }
import huggingFace from './hugging-face.json' with { type: 'json' }
import openai from './openai.json' with { type: 'json' }
import vercel from './vercel.json' with { type: 'json' }

/** Repositories that their publishers keep, one file each. Being listed says who made it, not that it is safe. */
export const SKILL_CATALOGUE_FILES: readonly unknown[] = [anthropic, openai, huggingFace, vercel]
