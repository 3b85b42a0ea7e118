//===- RtTables.td - attributes whose cases are rows of a table -------------===//
//
// Arenas, pools, groups and step fields are rows of tables of the runtime's
// public headers, and so is what may stand here: a row there is a case here.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RT_TABLES
#define MTC_RT_TABLES

include "dialects/Tables.td"

class Rt_TableParameter<string type, string what> : AttrParameter<type, what> {
  let parser = "::mtc::parseNamed<" # type # ">($_parser)";
  let printer = "$_printer << ::mtc::nameOf($_self)";
}
class Rt_TableAttr<string name, string attrMnemonic, string type>
    : AttrDef<Rt_Dialect, name> {
  let mnemonic = attrMnemonic;
  let parameters = (ins Rt_TableParameter<type, attrMnemonic>:$value);
  let assemblyFormat = "$value";
  let returnType = type;
  let convertFromStorage = "$_self.getValue()";
  let constBuilderCall = "::mtc::rt::" # name # "Attr::get($_builder.getContext(), $0)";
}

def Rt_Arena : Rt_TableAttr<"Arena", "arena", "::MtcArena"> {
  let summary = "a kind of memory";
  let description = [{
    A row of `kArenas` (memory.h).

    Example: `#rt<arena workspace>`
  }];
}
def Rt_Pool : Rt_TableAttr<"Pool", "pool", "::MtcPool"> {
  let summary = "equal slots of the activation arena";
  let description = [{
    A row of `kPools` (memory.h), or a pool of a further value that crosses, such as
    `recv_activation.1`.

    Example: `#rt<pool saved>`
  }];
}
def Rt_Group : Rt_TableAttr<"Group", "group", "::MtcGroup"> {
  let summary = "the ranks of a communicator";
  let description = [{
    A row of `kGroups` (mesh.h).

    Example: `#rt<group tp>`
  }];
}
def Rt_StepField : Rt_TableAttr<"StepField", "field", "::mtc::StepField"> {
  let summary = "a field of the step block";
  let description = [{
    A row of `kStepFields` (step_field.h) that kernels read.

    Example: `#rt<field lr>`
  }];
}

def Rt_Groups : AttrDef<Rt_Dialect, "Groups"> {
  let mnemonic = "groups";
  let summary = "some groups of ranks along axes of the mesh";
  let description = [{
    Rows of `kGroups` (mesh.h), in ascending order.

    Example: `#rt.groups<tp, dp>`
  }];
  let parameters = (ins ArrayRefParameter<"::MtcGroup">:$groups);
  let hasCustomAssemblyFormat = 1;
}

def Rt_Affine : AttrDef<Rt_Dialect, "Affine"> {
  let mnemonic = "affine";
  let summary = "an integer that is affine in coordinates and step";
  let description = [{
    A constant plus multiples of a rank's coordinates on the axes of the mesh, and
    of `microbatch`, `sample` (the sample base of the step) and `seed`.

    Example: `#rt.affine<2 * dp + 4 * microbatch + sample>`
  }];
  let parameters = (ins "int64_t":$constant, ArrayRefParameter<"int64_t">:$factors);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let returnType = "::mtc::rt::Affine";
  let convertFromStorage = "$_self.form()";
  let constBuilderCall = "::mtc::rt::AffineAttr::of($_builder.getContext(), $0)";
  let extraClassDeclaration = [{
    static AffineAttr of(::mlir::MLIRContext *context, const ::mtc::rt::Affine &form);
    ::mtc::rt::Affine form() const;
  }];
}

def Rt_Tag : AttrDef<Rt_Dialect, "Tag"> {
  let mnemonic = "tag";
  let summary = "what a transfer carries";
  let description = [{
    The value of that name (`pipe.crossing`) that virtual stage `virtual_stage` made
    of a microbatch. `Tag` in memory.h says how the runtime encodes it.

    Example: `#rt.tag<value = activation, microbatch = 0, virtual_stage = 1>`
  }];
  let parameters = (ins Mtc_CrossingName:$value, "int64_t":$microbatch, "int64_t":$virtual_stage);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    ::mtc::Tag tag() const { return {getValue(), getMicrobatch(), getVirtualStage()}; }
  }];
}

// A 64-bit integer whose accessors are signed.
def Rt_Int : TypedSignlessIntegerAttrBase<I64, "int64_t", "64-bit integer attribute"> {
  let convertFromStorage = "$_self.getInt()";
}
#endif // MTC_RT_TABLES
